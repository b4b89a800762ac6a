package exec

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"simplex/process"
	"simplex/state"
	"simplex/tools"
	toolprocess "simplex/tools/process"
)

// patience bounds what a sound program does at once on an idle machine.
const patience = 60 * time.Second

// args are the arguments of a call.
type args = map[string]any

// desk is a registry with the process tools over real processes.
type desk struct {
	t        testing.TB
	tty      bool // what run and start ask for
	mark     string
	store    *process.Store
	registry *tools.Registry
	calls    atomic.Int64
}

var desks atomic.Int64

func newDesk(t testing.TB, tty bool, cfg process.Config) *desk {
	t.Helper()
	d := &desk{t: t, tty: tty, mark: fmt.Sprintf("DESK=%d-%d", os.Getpid(), desks.Add(1))}
	cfg.Environment = func() []string { return append(os.Environ(), d.mark) }
	if cfg.Grace == 0 {
		cfg.Grace = 200 * time.Millisecond
	}
	d.store, d.registry = process.NewStore(cfg), tools.NewRegistry(nil)
	set, err := toolprocess.New(toolprocess.Config{Store: d.store})
	must(t, err)
	must(t, d.registry.Add(set))
	t.Cleanup(d.close)
	return d
}

// close ends the desk in order; nothing may be left of what it started.
func (d *desk) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.registry.Shutdown(ctx); err != nil {
		d.t.Errorf("shutdown: %v", err)
	}
	for pid, line := range marked(d.t, d.mark) {
		d.t.Errorf("left: %d %s", pid, line)
	}
	uproot(d.t, d.mark)
}

// call makes an approved call.
func (d *desk) call(name string, a args) answer {
	d.t.Helper()
	v, err := state.ValueOf(a)
	must(d.t, err)
	c := state.Call{ID: "c" + strconv.FormatInt(d.calls.Add(1), 10), Name: name, Arguments: v}
	_, run := d.registry.Prepare(c, func(context.Context, state.Call) (bool, string) { return true, "" })
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	res := run(ctx)
	if !utf8.ValidString(res.Output.Raw) || strings.ContainsFunc(res.Output.Raw, hidden) {
		d.t.Errorf("%s: unfit to be shown: %.200q", name, res.Output.Raw)
	}
	return answer{t: d.t, text: res.Output.Raw, failed: tools.IsError(res)}
}

func hidden(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || (r >= 0x7F && r < 0xA0)
}

// ok is call, which must not answer with an error.
func (d *desk) ok(name string, a args) answer {
	d.t.Helper()
	got := d.call(name, a)
	if got.failed {
		d.t.Fatalf("%s: %.2000s", name, got.text)
	}
	return got
}

// run runs a command line to its end, in the desk's environment.
func (d *desk) run(line string) answer {
	d.t.Helper()
	return d.within(line, 10*patience)
}

// within is run with a window of its own.
func (d *desk) within(line string, window time.Duration) answer {
	d.t.Helper()
	return d.ok("run_command", args{"command": line, "tty": d.tty, "expected_runtime_milliseconds": window.Milliseconds()})
}

// start starts a command line that reads its input, in the background, and gives its session.
func (d *desk) start(line string) string {
	d.t.Helper()
	a := d.ok("run_command", args{"command": line, "tty": d.tty, "interactive": true, "expected_runtime_milliseconds": 0})
	return a.field("session_id")
}

// send types input into a session.
func (d *desk) send(id, input string) answer {
	d.t.Helper()
	return d.ok("send_process", args{"session_id": id, "input": input})
}

// finished waits for a session's end, and reads nothing.
func (d *desk) finished(id string) answer {
	d.t.Helper()
	a := d.ok("poll_process", args{"session_ids": []string{id}, "include_output": false, "wait_timeout_milliseconds": 10 * patience.Milliseconds()})
	a.want("timed_out", "false")
	return a
}

// read is a full read of a session.
func (d *desk) read(id string) answer {
	d.t.Helper()
	return d.ok("read_process", args{"session_id": id, "full": true})
}

// until polls a session until what it printed since its last read has the text; it
// gives all of that.
func (d *desk) until(id, text string) string {
	d.t.Helper()
	var got strings.Builder
	for deadline := time.Now().Add(patience); ; {
		a := d.ok("poll_process", args{"session_ids": []string{id}, "wait_timeout_milliseconds": 20})
		got.WriteString(a.fresh())
		switch {
		case strings.Contains(got.String(), text):
			return got.String()
		case a.field("finished_count") == "1":
			d.t.Fatalf("%q did not come before the end: %q", text, got.String())
		case time.Now().After(deadline):
			d.t.Fatalf("%q did not come: %q", text, got.String())
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
