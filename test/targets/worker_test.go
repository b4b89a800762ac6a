package targets

import (
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"simplex/test/conformance/rig"
)

// hosted is a worker's surroundings with an allocation on a target.
type hosted struct {
	*rig.Rig
	tg     target
	s      store
	config string
}

// newHosted prepares and captures an allocation whose endpoints are a Hub and a model on
// this machine's loopback, which the container shares.
func newHosted(t *testing.T, tg target, s store, script ...rig.Reply) *hosted {
	t.Helper()
	r := rig.New(t, script...)
	text, err := os.ReadFile(r.Configuration())
	if err != nil {
		t.Fatal(err)
	}
	tg.must(t, s.request("prepare", "w", object{"configuration": string(text)}))
	tg.must(t, s.request("capture_startup", "w", object{"lifecycle_id": "start-1", "expected_revision": 1}))
	return &hosted{Rig: r, tg: tg, s: s, config: s.directory("w") + "/config/config.yaml"}
}

// run starts the worker in the foreground of a transport and waits for it.
func (h *hosted) run(t *testing.T) *client {
	t.Helper()
	c := h.tg.start(t, io.Discard, shared.executable, "run", "--config", h.config, "--session", "s1", "--log-level", "debug")
	h.Until("ready")
	return c
}

func (h *hosted) inspect(t *testing.T) string {
	t.Helper()
	return h.tg.must(t, h.s.request("inspect", "w", nil)).stdout
}

// refusesRemoval asserts that the worker's lease holds.
func (h *hosted) refusesRemoval(t *testing.T) {
	t.Helper()
	got := h.tg.manage(t, h.s.request("remove", "w", nil))
	if got.code != 1 || !strings.Contains(got.stdout, `"code":"busy"`) || !strings.Contains(got.stdout, `"published":false`) {
		t.Errorf("%s: remove beside a worker: %v", h.tg.name, got)
	}
}

// A session with a real command, and the manager beside it.
func TestWorker(t *testing.T) {
	t.Parallel()
	s := newStore(t, "worker")
	for _, tg := range everywhere(t) {
		s.fresh(t, tg)
		gate := make(chan struct{})
		h := newHosted(t, tg, s, rig.Reply{Calls: []rig.Call{rig.Shell("c1", "echo its $((40+2))")}}, rig.Reply{Text: "Done.", Gate: gate})
		c := h.run(t)
		h.Payload(rig.Approved("q1", "x"))
		h.Until("tool_results")
		h.Model.Request(t, 2)
		if got := h.tg.must(t, s.request("read_state", "w", nil)).stdout; !strings.Contains(got, "its 42") {
			t.Errorf("%s: the state while the session runs: %s", tg.name, got)
		}
		if got := h.inspect(t); !strings.Contains(got, `"lease":"held"`) {
			t.Errorf("%s: %s", tg.name, got)
		}
		tg.must(t, s.request("clean_fork", "child", object{
			"source": object{"allocation_id": "w", "directory": s.directory("w"), "lifecycle_id": "start-1", "revision": 1},
		}))
		h.refusesRemoval(t)
		close(gate)
		h.Completes()
		h.Signal(rig.Op("shutdown"))
		// The Hub sees the foreground command end: the only proof of a completed stop.
		if code := c.exits(); code != 0 {
			t.Errorf("%s: exit code %d after shutdown: %s", tg.name, code, &c.stderr)
		}
		if got := h.inspect(t); !strings.Contains(got, `"lease":"idle"`) {
			t.Errorf("%s: %s", tg.name, got)
		}
		tg.must(t, s.request("remove", "w", nil))
		late, err := tg.call(t, shared.executable, "run", "--config", h.config, "--session", "s1")
		if err != nil || late.code != 1 || late.stdout != "" {
			t.Errorf("%s: a start after the removal: %v %v", tg.name, err, late)
		}
	}
}

// The end of ssh or docker exec is not the end of the worker, also when it goes on
// writing its log. It can be stopped in order afterwards.
func TestWorkerOutlivesItsTransport(t *testing.T) {
	t.Parallel()
	s := newStore(t, "outlives")
	for _, tg := range []target{overSSH(t), inContainer(t)} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			s.fresh(t, tg)
			h := newHosted(t, tg, s, rig.Reply{Text: "One."}, rig.Reply{Text: "Two."})
			c := h.run(t)
			h.Payload(rig.Message("q1", "x"))
			h.Completes()
			c.kill(sig)
			t.Logf("%s: %v: exit code %d of the transport", tg.name, sig, c.exits())
			h.Payload(rig.Message("q2", "y"))
			h.Completes()
			if got := h.inspect(t); !strings.Contains(got, `"lease":"held"`) {
				t.Errorf("%s: %s", tg.name, got)
			}
			h.refusesRemoval(t)
			h.Signal(rig.Op("shutdown"))
			if err := h.Hub.Disconnected(rig.Deadline(t)); err != nil {
				t.Fatal(err)
			}
			if got := tg.settled(t, s.request("remove", "w", nil)); got.code != 0 {
				t.Errorf("%s: %v", tg.name, got)
			}
		}
	}
}

// A client of docker may end with 0 although its command goes on: here its connection is
// cut while the engine stays within reach. So 0 alone is no proof; the lease tells.
func TestDockerConnectionCut(t *testing.T) {
	t.Parallel()
	tg := inContainer(t)
	e, err := shared.engine()
	if err != nil {
		t.Fatal(err)
	}
	cut := startRelay(t, e.socket)
	s := newStore(t, "cut")
	s.fresh(t, tg)
	h := newHosted(t, tg, s, rig.Reply{Text: "One."})
	h.tg.line = func(argv ...string) []string {
		line := tg.line(argv...)
		line[slices.Index(line, "unix://"+e.socket)] = "unix://" + cut.socket
		return line
	}
	c := h.run(t)
	h.tg = tg
	cut.all()
	t.Logf("exit code %d of docker exec: %s", c.exits(), &c.stderr)
	h.Payload(rig.Message("q1", "x"))
	h.Completes()
	if got := h.inspect(t); !strings.Contains(got, `"lease":"held"`) {
		t.Error(got)
	}
	h.Signal(rig.Op("shutdown"))
	if err := h.Hub.Disconnected(rig.Deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got := tg.settled(t, s.request("remove", "w", nil)); got.code != 0 {
		t.Error(got)
	}
}
