package hubcall

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"simplex/state"
)

func TestDivideIsFair(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var units []*unit
		total := 0
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 1000)).Draw(t, "sizes") {
			units = append(units, &unit{size: n})
			total += n
		}
		room := rapid.IntRange(0, 5000).Draw(t, "room")
		given := divide(units, room)
		if want := min(room, total); given != want {
			t.Fatalf("%d of %d given to %d", given, room, total)
		}
		smallest, largest := 1<<30, 0 // rooms of those that are cut
		for _, u := range units {
			if u.room > u.size {
				t.Fatalf("%d for %d", u.room, u.size)
			}
			if u.room < u.size {
				smallest, largest = min(smallest, u.room), max(largest, u.room)
			}
		}
		for _, u := range units {
			if u.room == u.size && u.size > largest+1 && largest > 0 {
				t.Fatalf("%d whole while others have %d", u.size, largest)
			}
		}
		if largest-smallest > 1 {
			t.Fatalf("cut ones have from %d to %d", smallest, largest)
		}
	})
}

// FuzzReceive renders whatever object a Hub may send, for each form of the call: no
// panic, and what is shown is bounded valid text.
func FuzzReceive(f *testing.F) {
	const child = `"subagent_id":"a","parent":"s","lifecycle":"ready","policy":"ask","health":"healthy","reason":null,"observed_at":null,"active":true,"process_state":"running","connected":true,"run_id":null,"pending_approvals":2,"error":null`
	const conversation = `{"revision":5,"worker_id":"cw","turns":[{"index":1,"user":[{"type":"text","modality":"text","raw":"hi"}],"steps":[{"index":0,"content":[{"type":"text","modality":"text","raw":"é"}]}]}],"truncated":false,"incomplete":false,"stale":false,"refreshed_at":null,"cursor":0,"next":1,"total":1}`
	f.Add(`{"subagents":[{`+child+`}]}`, uint8(0))
	f.Add(`{`+child+`,"requests":[],"requests_truncated":false,"conversation":`+conversation+`}`, uint8(1))
	f.Add(`{`+child+`,"answer":{"part":0,"offset":0,"raw":"","bytes":0,"next_offset":0,"next_part":1,"total_parts":1,"done":true}}`, uint8(2))
	f.Fuzz(func(t *testing.T, raw string, form uint8) {
		o, err := state.ParseObject([]byte(raw))
		if err != nil || len(raw) > 256<<10 {
			return
		}
		q := &query{limit: 10}
		if form%3 > 0 {
			q.id = "a"
		}
		if form%3 == 2 {
			if q.readAnswer(state.ObjectFrom([]state.Member{
				{Name: "source", Value: mustSource()},
				{Name: "part", Value: state.UintValue(0)},
				{Name: "offset", Value: state.UintValue(0)},
			}).Value) != nil {
				t.Fatal("the answer is refused")
			}
		}
		out, err := q.render(o)
		if err == nil && (!utf8.ValidString(out.Raw) || len(out.Raw) > maxRendered || out.Raw == "") {
			t.Fatalf("unfit: %q", out.Raw)
		}
	})
}

func mustSource() state.Value {
	v, err := state.ParseValue([]byte(`{"commit_sequence":"7","fingerprint":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","step":0,"turn":2,"worker_id":"child"}`))
	if err != nil {
		panic(err)
	}
	return v
}
