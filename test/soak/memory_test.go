package soak

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"simplex/state"
	"simplex/test/conformance/rig"
)

// TestMemoryWithAStoppedReader asks for several times more than an outbox holds while the
// Hub does not read. What finds no room is counted and not kept.
func TestMemoryWithAStoppedReader(t *testing.T) {
	const asked = 400 // pages of about 190 KiB
	h := newHub()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.listen(l)
	t.Cleanup(h.down)
	r := rig.New(t, rig.Reply{Text: "ok"})
	r.Endpoint, r.NoConfirm, r.Client = "ws://"+l.Addr().String()+linkPath, true, "query_capacity: 500"
	r.Put(twoLongAnswers())
	p := r.Start()
	ctx, cancel := context.WithTimeout(context.Background(), rig.Patience)
	defer cancel()
	d := &driver{t: t, ctx: ctx, hub: h, program: p}
	d.connected()
	h.stall()
	for i := range asked {
		if !h.send(linkPath, "payload", rig.Op("history", "request_id", fmt.Sprint(i))) {
			t.Fatal("a query could not be sent")
		}
	}
	quiescent(t, p.PID())
	_, peak := resident(t, p.PID())
	h.resume()
	d.ended(d.begin())
	h.mu.Lock()
	defer h.mu.Unlock()
	came, omitted := 0, 0
	for _, e := range d.peer().events {
		switch e.Name {
		case "history":
			came++
		case "run_finished":
			var fin struct {
				Omitted int `json:"omitted_query_events"`
			}
			if err := json.Unmarshal(e.Data, &fin); err != nil {
				t.Fatal(err)
			}
			omitted += fin.Omitted
		}
	}
	t.Logf("%d pages came, %d were left out; peak %d KiB of %d", came, omitted, peak, memoryBound)
	if came+omitted != asked || omitted == 0 {
		t.Errorf("%d pages came and %d were left out of %d", came, omitted, asked)
	}
	if peak > memoryBound {
		t.Errorf("peak of %d KiB, bound %d", peak, memoryBound)
	}
	p.Stop()
}

func twoLongAnswers() *state.State {
	st := state.New("s1", time.Unix(1700000000, 0))
	st.SystemPrompt.Sections = []state.Section{{Name: "role", Title: "Role", Stability: state.Immutable, Text: "You test."}}
	content := []state.Content{state.TextContent(strings.Repeat("z", 95<<10))}
	for i := range 2 {
		st.Turns = append(st.Turns, &state.Turn{
			UserInput: state.NewTextMessage(state.UserInput, "user", "q"),
			Steps: []*state.Step{{CommitSequence: uint64(i) + 1, ModelResponse: &state.Message{
				Type: state.ModelResponse, Role: "assistant", Content: content,
			}}},
		})
	}
	st.Loop.CommittedSequence = 2
	return st
}

// quiescent waits until a process has taken no processor time in ten looks in a row.
func quiescent(t *testing.T, pid int) {
	t.Helper()
	ctx := rig.Deadline(t)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	before := busy(t, pid)
	for still := 0; still < 10; still++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the worker does not come to rest")
		}
		now := busy(t, pid)
		if now-before > time.Millisecond {
			still = 0
		}
		before = now
	}
}
