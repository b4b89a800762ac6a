package conformance

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"simplex/hub/fakehub"
	"simplex/test/conformance/rig"
	"simplex/wire"
)

func lastOf(events []fakehub.Event) fakehub.Event { return events[len(events)-1] }

// Moments at which two things happen at once.
func TestEdges(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"9", "a cancel that follows input_admitted at once is obeyed", func(t *testing.T) {
			r := rig.New(t)
			r.Model.Answer = func(int, string) rig.Reply { return rig.Reply{Hang: true} }
			p := r.Online()
			for i := range 200 {
				r.Payload(rig.Message(fmt.Sprintf("q%d", i), "x"))
				admitted := lastOf(r.Until("input_admitted"))
				r.Signal(rig.Op("cancel", "run_id", admitted.RunID))
				if f := r.Finished(); f.Field("status") != "cancelled" {
					t.Fatalf("run %d: %s", i, f.Data)
				}
			}
			p.Stop()
			over, saved := "", ""
			for _, e := range r.Hub.Events() {
				if e.Name == "persisted" {
					saved = e.RunID
				}
				if e.Name == "run_finished" && (string(e.Value("durable")) == "true") != (saved == e.RunID) {
					t.Errorf("durable is untrue: %s", e.Raw)
				}
				if e.Name == "status" && e.RunID == over && string(e.Value("active")) == "true" {
					t.Errorf("run %s is told to be active after its end", over)
				}
				if e.Name == "run_finished" {
					over = e.RunID
				}
			}
		}},
		{"7", "what waits when the stop begins is not admitted", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Hang: true}, rig.Reply{Text: "ok"})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Model.Request(t, 1)
			r.Payload(rig.Message("q2", "second"))
			r.Status() // it has arrived
			r.Signal(rig.Op("shutdown"))
			p.Exits(0)
			for _, e := range r.Hub.Events() {
				if e.RequestID == "q2" {
					t.Errorf("q2 got %s %s", e.Name, e.Data)
				}
			}
		}},
		{"4", "status is answered while the worker stops", func(t *testing.T) {
			address, arrived := silent(t)
			r := rig.New(t, rig.Reply{Calls: []rig.Call{{ID: "c1", Name: "plan", Arguments: `{"operation":"read"}`}}})
			r.Extra = fmt.Sprintf("hub_remote_call: { endpoint: \"ws://%s/rpc\", timeout_ms: 2000 }", address)
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			<-arrived
			r.Signal(rig.Op("shutdown"))
			for range wire.SignalCapacity { // one after the other, as a Hub asks that watches the stop
				r.Signal(rig.Op("status"))
				if e := lastOf(r.Until("status")); string(e.Value("stopping")) != "true" {
					t.Fatalf("%s", e.Data)
				}
			}
			r.Until("run_finished")
			p.Exits(0)
		}},
		{"7", "an answer that a server sends in one piece is streamed in small ones", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: strings.Repeat("é", 1<<20)})
			p := r.Online()
			r.Signal(rig.Op("stream", "enabled", true))
			r.Status()
			r.Payload(rig.Message("q1", "x"))
			deltas, last := 0, uint64(0)
			for _, e := range r.Until("run_finished") {
				if len(e.Raw) > 1<<20 {
					t.Errorf("%s has %d bytes", e.Name, len(e.Raw))
				}
				if last > 0 && e.Sequence != last+1 {
					t.Errorf("sequence %d after %d", e.Sequence, last)
				}
				last = e.Sequence
				if e.Name == "model_delta" {
					deltas++
				}
			}
			if deltas == 0 {
				t.Error("nothing was streamed")
			}
			p.Stop()
		}},
		{"w3.5", "a request that is cancelled while it compacts is saved as cancelled", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: strings.Repeat("thinking aloud. ", 2000), Calls: []rig.Call{rig.Shell("c1", "true")}, Tokens: 5000}, rig.Reply{Hang: true})
			r.Worker = "auto_compact_threshold: 1001"
			r.Persistence = "save: { on_step_finished: false, on_run_finished: false }"
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			r.Model.Request(t, 2)
			r.Signal(rig.Op("cancel", "run_id", r.Until("input_committed")[0].RunID))
			all := r.Until("run_finished")
			p.Kill()
			if !strings.Contains(fmt.Sprint(rig.Labels(all)), "persisted(cancelled)") || string(lastOf(all).Value("durable")) != "true" {
				t.Errorf("%v %s", rig.Labels(all), lastOf(all).Data)
			}
			if st := r.State(); st.Loop.Status != "cancelled" {
				t.Errorf("on disk: %s, %s", st.Loop.Status, st.Loop.Phase)
			}
		}},
		{"w3.6", "the end of a run leaves through a connection that comes back in time", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Hang: true})
			r.Transport = "initial_backoff_ms: 50, max_backoff_ms: 100"
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Until("input_committed")
			r.Hub.Drop()
			if err := r.Hub.Disconnected(rig.Deadline(t)); err != nil {
				t.Fatal(err)
			}
			p.Signal(syscall.SIGTERM)
			p.Exits(0)
			r.Until("run_finished")
		}},
	})
}

// silent takes connections and says nothing; arrived gets one for each.
func silent(t *testing.T) (address string, arrived <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came, over := make(chan struct{}, 16), make(chan struct{})
	go func() {
		defer close(over)
		var held []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			held = append(held, c)
			came <- struct{}{}
		}
		for _, c := range held {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-over
	})
	return l.Addr().String(), came
}
