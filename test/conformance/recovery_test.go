package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"simplex/state"
	"simplex/test/conformance/rig"
)

func TestRecovery(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"11", "phase ready accepts", func(t *testing.T) { accepts(t, fresh(textOf("ok"), "first")) }},
		{"11", "phase model accepts", func(t *testing.T) {
			st := fresh(textOf("ok"), "first")
			st.Loop.Phase, st.Loop.Status = state.PhaseModel, state.StatusRunning
			accepts(t, st)
		}},
		{"11", "phase projection projects, and runs no tool again", projection},
		{"11", "phase tools refuses", func(t *testing.T) { refuses(t, interrupted(state.PhaseTools)) }},
		{"11", "phase blocked refuses", func(t *testing.T) { refuses(t, interrupted(state.PhaseBlocked)) }},
		{"11", "a state of another session does not start", func(t *testing.T) {
			st := fresh(textOf("ok"), "first")
			st.Meta.SessionID = "other"
			broken(t, st)
		}},
		{"11", "a state with broken structure does not start", func(t *testing.T) {
			st := interrupted(state.PhaseTools)
			st.Loop.Phase = state.PhaseReady
			broken(t, st)
		}},
	})
}

func accepts(t *testing.T, st *state.State) {
	r := rig.New(t, rig.Reply{Text: "ok"}, rig.Reply{Text: "ok"})
	r.Put(st)
	p := r.Online()
	if e := r.Status(); string(e.Value("active")) != "false" || len(r.Model.Requests()) > 0 {
		t.Error("something runs by itself after a restore")
	}
	r.Payload(rig.Message("q1", "second"))
	r.Completes()
	r.Payload(rig.Op("continue", "request_id", "q2"))
	r.Completes()
	p.Stop()
	if got := len(r.State().Turns); got != 2 {
		t.Errorf("%d turns", got)
	}
}

func projection(t *testing.T) {
	for _, input := range []object{rig.Message("q1", "second"), rig.Op("continue", "request_id", "q1")} {
		r := rig.New(t, rig.Reply{Text: "ok"})
		r.Put(interrupted(state.PhaseProjection))
		p := r.Online()
		r.Payload(rig.Op("compact", "request_id", "c"))
		if e := r.Rejected(); e.RequestID != "c" {
			t.Errorf("%s", e.Raw)
		}
		r.Payload(input)
		r.Completes()
		if !strings.Contains(r.Model.Last(), "saved-result") || len(r.Effects()) > 0 {
			t.Error("the saved result did not reach the model, or a tool ran")
		}
		p.Stop()
	}
}

func refuses(t *testing.T, st *state.State) {
	r := rig.New(t)
	r.Put(st)
	p := r.Online()
	for _, input := range []object{rig.Message("q1", "x"), rig.Op("continue", "request_id", "q2"), rig.Op("compact", "request_id", "q3")} {
		r.Payload(input)
		if e := r.Rejected(); e.Field("message") == "" || e.Field("code") != "" || e.RunID != "" {
			t.Errorf("%s", e.Raw)
		}
	}
	if e := r.Status(); e.Field("loop", "phase") != string(st.Loop.Phase) {
		t.Errorf("%s", e.Data)
	}
	if h := ask(r, 0, 0); h.Total != 1 || len(r.Model.Requests()) > 0 {
		t.Error("queries do not work, or the model was asked")
	}
	p.Stop()
	if got := r.State(); got.Loop.Phase != st.Loop.Phase {
		t.Errorf("an orderly stop made phase %s", got.Loop.Phase)
	}
}

func broken(t *testing.T, st *state.State) {
	r := rig.New(t)
	r.Put(st)
	before := r.Saved()
	p := r.Start()
	p.Exits(1)
	if len(r.Hub.Events()) > 0 || r.Saved() != before || !strings.Contains(p.Stderr.String(), filepath.Dir(r.StatePath())) {
		t.Errorf("the worker went on, or does not name the place: %s", p.Stderr)
	}
}

func TestStorageFailure(t *testing.T) {
	t.Parallel()
	tool := rig.Reply{Calls: []rig.Call{rig.Shell("c1", "echo one >>effects")}}
	play(t, []row{
		{"11", "a full disk", fullDisk},
		{"11", "the state directory removed", func(t *testing.T) {
			fails(t, []rig.Reply{{Text: "ok"}, tool}, func(r *rig.Rig) {
				if err := os.RemoveAll(filepath.Dir(r.StatePath())); err != nil {
					t.Fatal(err)
				}
			}, rig.Approved("q2", "x"))
		}},
		{"11", "a failed save of a compaction", func(t *testing.T) {
			fails(t, []rig.Reply{{Text: strings.Repeat("long ", 9000)}, {Text: "the summary"}}, func(r *rig.Rig) {
				if err := os.Rename(r.StatePath(), r.StatePath()+".kept"); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Join(r.StatePath(), "x"), 0o700); err != nil {
					t.Fatal(err)
				}
			}, rig.Op("compact", "request_id", "q2"))
		}},
	})
}

// fails lets one run complete, spoils the storage, and sends an input that cannot be saved.
func fails(t *testing.T, script []rig.Reply, spoil func(*rig.Rig), input object) {
	t.Helper()
	r := rig.New(t, script...)
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	r.Completes()
	spoil(r)
	r.Payload(input)
	r.Payload(rig.Message("q3", "x")) // never runs
	p.Exits(1)
	if err := r.Hub.Disconnected(rig.Deadline(t)); err != nil {
		t.Fatal(err)
	}
	told, last := 0, ""
	for _, e := range r.Hub.Rest() {
		if e.Name == "error" && string(e.Value("durable")) == "false" && e.Field("message") != "" {
			told++
		}
		if e.Name == "run_finished" {
			last = e.Field("status")
			if string(e.Value("durable")) != "false" || last == "completed" || string(e.Value("failure", "can_continue")) == "true" {
				t.Errorf("%s", e.Data)
			}
		}
		if told > 0 && e.Name == "persisted" {
			t.Errorf("saved after the failure: %s", e.Raw)
		}
	}
	if told != 1 || last == "" || len(r.Effects()) > 0 {
		t.Errorf("told %d times, run %q, effects %v", told, last, r.Effects())
	}
}

// fullDisk runs on a tmpfs that fills up, sees the worker stop, makes room and goes on.
func fullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this needs root, to mount a tmpfs")
	}
	r := rig.New(t, rig.Reply{Text: "ok"}, rig.Reply{Text: "lost"}, rig.Reply{Text: "ok again"})
	session := filepath.Join(r.Dir, "session")
	if err := os.Mkdir(session, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "none", session).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(session, syscall.MNT_DETACH) })
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	r.Completes()
	good := r.Saved()
	ballast := filepath.Join(session, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 1<<20), 0o600) // until there is no space
	r.Payload(rig.Message("q2", "y"))
	p.Exits(1)
	if r.Saved() != good {
		t.Error("the last good state was touched")
	}
	if !strings.Contains(p.Stderr.String(), "no space left") {
		t.Errorf("stderr: %s", p.Stderr)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	p = r.Online()
	r.Payload(rig.Message("q3", "z"))
	r.Completes()
	p.Stop()
	if got := len(r.State().Turns); got != 2 {
		t.Errorf("%d turns", got)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"4", "with a running child and a dead Hub", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Calls: []rig.Call{rig.Shell("c1", "echo $$ >pid; echo up >up; exec sleep 907")}})
			p := r.Online()
			r.Payload(rig.Approved("q1", "x"))
			awaitFile(t, r.Dir, "up")
			r.Hub.Down()
			p.Signal(syscall.SIGTERM)
			p.Exits(0)
			st := r.State()
			if st.Loop.Phase != state.PhaseReady || st.Loop.Status != state.StatusCancelled || len(st.Turns[0].Steps[0].Returns) != 1 {
				t.Errorf("loop %+v", st.Loop)
			}
			pid, err := os.ReadFile(filepath.Join(r.Dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
				t.Error("the child outlived its worker")
			}
		}},
		{"4", "during a model call: cancelled, told, saved", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Hang: true})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Model.Request(t, 1)
			r.Signal(rig.Op("shutdown"))
			p.Exits(0)
			if e := r.Finished(); e.Field("status") != "cancelled" || string(e.Value("durable")) != "true" {
				t.Errorf("%s", e.Data)
			}
			if st := r.State(); len(st.Turns) != 1 || st.Loop.Phase != state.PhaseReady {
				t.Error("the input is not saved")
			}
		}},
		{"4", "waiting inputs are dropped", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Hang: true})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Model.Request(t, 1)
			r.Payload(rig.Message("q2", "x"))
			r.Signal(rig.Op("shutdown"))
			p.Exits(0)
			if got := len(r.State().Turns); got != 1 {
				t.Errorf("%d turns", got)
			}
		}},
	})
}
