package core

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/wire"
)

func sized(name wire.EventName, n int) wire.Event {
	return wire.Event{Name: name, SessionID: "s", WorkerID: "w", Data: jsontext.Value(`"` + strings.Repeat("x", n) + `"`)}
}

func decodeFrame(t testing.TB, raw []byte) wire.Received {
	t.Helper()
	e, err := wire.DecodeEvent(raw)
	if err != nil {
		t.Fatalf("the outbox holds no event: %v", err)
	}
	return e
}

func TestOutboxKeepsOrderAndNumbersOnlyWhatItAdmits(t *testing.T) {
	o := newOutbox(2, func() int { return 0 })
	for i := range 4 { // two find no slot
		if err := o.publish(preview, "", sized(wire.EventToolCalls, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.publish(lifecycle, "", sized(wire.EventRunFinished, 0)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		raw, err := o.next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		o.done()
		e := decodeFrame(t, raw)
		got = append(got, fmt.Sprint(e.Name, e.Sequence))
	}
	want := "[tool_calls1 tool_calls2 run_finished3]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if left := o.settle(); left.Display != 2 {
		t.Errorf("omitted display events %d, want 2", left.Display)
	}
	if left := o.settle(); left != (omissions{}) {
		t.Errorf("a settlement does not start anew: %+v", left)
	}
}

func TestOutboxReplacesTheLatestValueInPlace(t *testing.T) {
	o := newOutbox(8, func() int { return 0 })
	_ = o.publish(metadata, "status", sized(wire.EventStatus, 1))
	_ = o.publish(preview, "", sized(wire.EventToolCalls, 1))
	_ = o.publish(metadata, "status", sized(wire.EventStatus, 9))
	raw, _ := o.next(context.Background())
	o.done()
	e := decodeFrame(t, raw)
	if e.Name != wire.EventStatus || e.Sequence != 1 || len(e.Data) != 11 {
		t.Errorf("got %s #%d with %d bytes, want the newer status in the place of the first", e.Name, e.Sequence, len(e.Data))
	}
	_ = o.publish(metadata, "status", sized(wire.EventStatus, 2))
	_, _ = o.next(context.Background())
	o.done()
	raw, _ = o.next(context.Background())
	if e := decodeFrame(t, raw); e.Sequence != 3 {
		t.Errorf("a status after the first was sent has sequence %d, want 3", e.Sequence)
	}
}

func TestOutboxSaysWhenALifecycleEventFindsNoRoom(t *testing.T) {
	o := newOutbox(1, func() int { return 0 })
	for range wire.LifecycleSlots {
		if err := o.publish(lifecycle, "", sized(wire.EventRunStarted, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.publish(lifecycle, "", sized(wire.EventRunFinished, 0)); !errors.Is(err, errOutboxFull) {
		t.Errorf("error %v, want errOutboxFull", err)
	}
}

func TestOutboxCountsWhatTheTransportStillHolds(t *testing.T) {
	sending := wire.OutboxHeadroom
	o := newOutbox(8, func() int { return sending })
	_ = o.publish(preview, "", sized(wire.EventToolCalls, 10))
	if count, _ := o.load(); count != 0 {
		t.Error("a preview was admitted beyond the headroom")
	}
	if err := o.publish(lifecycle, "", sized(wire.EventRunStarted, 0)); err != nil {
		t.Errorf("a lifecycle event was refused below the hard limit: %v", err)
	}
	sending = wire.OutboxBytes
	if err := o.publish(lifecycle, "", sized(wire.EventRunStarted, 0)); !errors.Is(err, errOutboxFull) {
		t.Errorf("error %v beyond the hard limit, want errOutboxFull", err)
	}
}

func TestOutboxIsDrainedOnlyWhenTheTransportHasEverything(t *testing.T) {
	o := newOutbox(8, func() int { return 0 })
	_ = o.publish(preview, "", sized(wire.EventToolCalls, 1))
	if _, err := o.next(context.Background()); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.drained(gone); err == nil {
		t.Error("drained while the sender still holds an event")
	}
	o.done()
	if err := o.drained(context.Background()); err != nil {
		t.Error(err)
	}
}

// outboxModel checks the outbox against the rules of wire.md §7, written down once more.
func TestOutboxFollowsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 5).Draw(t, "capacity")
		o := newOutbox(capacity, func() int { return 0 })
		type item struct {
			c    class
			slot string
			seq  uint64
		}
		var model []item
		var seq uint64
		ordinary := func() (n int) {
			for _, m := range model {
				if m.c > metadata {
					n++
				}
			}
			return n
		}
		count := func(c class) (n int) {
			for _, m := range model {
				if m.c == c {
					n++
				}
			}
			return n
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "take") && len(model) > 0 {
				raw, _ := o.next(context.Background())
				o.done()
				var e struct {
					Sequence uint64 `json:"sequence"`
				}
				if err := json.Unmarshal(raw, &e); err != nil {
					t.Fatal(err)
				}
				if e.Sequence != model[0].seq {
					t.Fatalf("took #%d, want #%d", e.Sequence, model[0].seq)
				}
				model = model[1:]
				continue
			}
			c := class(rapid.IntRange(0, int(delta)-1).Draw(t, "class"))
			slot := rapid.SampledFrom([]string{"status", "persisted"}).Draw(t, "slot")
			err := o.publish(c, slot, sized(wire.EventStatus, rapid.IntRange(0, 50).Draw(t, "size")))
			queued := false
			for _, m := range model {
				queued = queued || m.c == metadata && c == metadata && m.slot == slot
			}
			switch {
			case c == metadata && queued:
			case c == lifecycle && count(lifecycle) == wire.LifecycleSlots:
				if !errors.Is(err, errOutboxFull) {
					t.Fatalf("lifecycle beyond its slots: %v", err)
				}
				continue
			case c > metadata && ordinary() == capacity:
			default:
				seq++
				model = append(model, item{c, slot, seq})
			}
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := o.load(); n != len(model) {
				t.Fatalf("%d events queued, want %d", n, len(model))
			}
		}
	})
}

func TestModelDeltasAreJoinedAndGiveWayFirst(t *testing.T) {
	o := newOutbox(4, func() int { return 0 })
	e := sized(wire.EventModelDelta, 0)
	for _, piece := range []wire.ModelDelta{{Kind: "text", Text: "he"}, {Kind: "text", Text: "llo"}, {Kind: "reasoning", Text: "hm"}} {
		if !o.offer(e, piece) {
			t.Fatal("an idle outbox has no place for a delta")
		}
	}
	if o.offer(e, wire.ModelDelta{Kind: "text", Text: "x"}) {
		t.Error("a delta takes a place of an outbox that is half full")
	}
	var got []string
	for range 2 {
		raw, _ := o.next(context.Background())
		o.done()
		r := decodeFrame(t, raw)
		got = append(got, fmt.Sprintf("%d %s", r.Sequence, r.Data))
	}
	want := `[1 {"kind":"text","text":"hello"} 2 {"kind":"reasoning","text":"hm"}]`
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if _, bytes := o.load(); bytes != 0 {
		t.Errorf("%d bytes are left of an empty outbox", bytes)
	}
	if left := o.settle(); left != (omissions{}) {
		t.Errorf("dropped deltas are counted as omissions: %+v", left)
	}
}
