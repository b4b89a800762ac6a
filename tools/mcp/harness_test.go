package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/mcp"
)

// patience bounds waits for what happens by itself in a sound package.
const patience = 30 * time.Second

// config starts the test program as a server of the mode; every tool is trusted, so
// that calls need nobody's approval.
func config(t testing.TB, mode string) mcp.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Config{
		Name: "demo", Command: exe, WorkingDirectory: t.TempDir(),
		Environment: []string{modeVariable + "=" + mode, "PATH=/usr/bin:/bin"},
		Rule:        func(string) mcp.Rule { return mcp.Rule{Security: state.Trusted} },
		Grace:       2 * time.Second, Backoff: time.Millisecond, StartTimeout: patience,
	}
}

// host is a registry with one MCP toolset.
type host struct {
	t        testing.TB
	registry *tools.Registry
	set      *mcp.Set
	closing  sync.Once
}

func start(t testing.TB, cfg mcp.Config) *host {
	t.Helper()
	set, err := mcp.Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, registry: tools.NewRegistry(nil), set: set}
	t.Cleanup(h.close)
	if err := h.registry.Add(set); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) close() {
	h.closing.Do(func() {
		if err := h.registry.Shutdown(context.Background()); err != nil {
			h.t.Error(err)
		}
	})
}

func (h *host) result(name, args string) state.Result {
	h.t.Helper()
	v, err := state.ParseValue([]byte(args))
	if err != nil {
		h.t.Fatal(err)
	}
	_, run := h.registry.Prepare(state.Call{ID: "c1", Name: name, Arguments: v}, nil)
	return run(context.Background())
}

// call gives the text of a result that is no error.
func (h *host) call(name, args string) string {
	h.t.Helper()
	r := h.result(name, args)
	if tools.IsError(r) {
		h.t.Errorf("%s: %s", name, r.Output.Raw)
	}
	return r.Output.Raw
}

// fails gives the bare message of an error record.
func (h *host) fails(name, args string) string {
	h.t.Helper()
	r := h.result(name, args)
	if !tools.IsError(r) {
		h.t.Fatalf("%s gave %q", name, r.Output.Raw)
	}
	v, _ := r.Extras.Get("error")
	o, _ := v.Object()
	message, _ := o.Get("message")
	s, _ := message.Text()
	return s
}

// again calls until the server is back.
func (h *host) again(name, args string) string {
	h.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if r := h.result(name, args); !tools.IsError(r) {
			return r.Output.Raw
		}
		time.Sleep(5 * time.Millisecond) // the registry has no event for it: a model would try again, too
	}
	h.t.Fatal("the server did not come back")
	return ""
}

func has(t testing.TB, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q has no %q", text, want)
		}
	}
}

// alive tells whether the process exists and is no zombie.
func alive(t testing.TB, pid string) bool {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatal(err)
	}
	return raw[bytes.LastIndexByte(raw, ')')+2] != 'Z'
}

// journal is a log to be looked at.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
