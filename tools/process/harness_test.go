package process_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	proc "simplex/process"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits for what comes at once on an idle machine.
const patience = 20 * time.Second

// long is a window no test waits for to its end.
const long = `"expected_runtime_milliseconds":60000`

func newStore(tb testing.TB) *proc.Store {
	tb.Helper()
	return storeWith(tb, proc.Config{})
}

func storeWith(tb testing.TB, cfg proc.Config) *proc.Store {
	tb.Helper()
	cfg.UUID, cfg.Grace = "t", 100*time.Millisecond
	store := proc.NewStore(cfg)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := store.Shutdown(ctx); err != nil {
			tb.Errorf("shutdown: %v", err)
		}
	})
	return store
}

// bench is a registry with the five tools over real processes.
type bench struct {
	tb       testing.TB
	store    *proc.Store
	registry *tools.Registry
	calls    atomic.Int64
}

func newBench(tb testing.TB, cfg proc.Config) *bench {
	tb.Helper()
	b := &bench{tb: tb, store: storeWith(tb, cfg), registry: tools.NewRegistry(nil)}
	set, err := process.New(process.Config{Store: b.store})
	must(tb, err)
	must(tb, b.registry.Add(set))
	return b
}

// call makes an approved call and gives its record.
func (b *bench) call(name, args string) state.Result {
	b.tb.Helper()
	v, err := state.ParseValue([]byte(args))
	if err != nil {
		b.tb.Fatalf("%s: %v", args, err)
	}
	call := state.Call{ID: "c" + strconv.FormatInt(b.calls.Add(1), 10), Name: name, Arguments: v}
	settled, run := b.registry.Prepare(call, func(context.Context, state.Call) (bool, string) { return true, "" })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res := run(ctx)
	if res.Call != settled {
		b.tb.Errorf("%s answers %+v", name, res.Call)
	}
	if !utf8.ValidString(res.Output.Raw) || strings.ContainsFunc(res.Output.Raw, control) {
		b.tb.Errorf("%s: unfit to be shown: %q", name, res.Output.Raw)
	}
	return res
}

func control(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || (r >= 0x7F && r < 0xA0)
}

// ok makes a call that must not be an error, and gives its text.
func (b *bench) ok(name, args string) string {
	b.tb.Helper()
	res := b.call(name, args)
	if tools.IsError(res) {
		b.tb.Fatalf("%s %s: %s", name, args, res.Output.Raw)
	}
	return res.Output.Raw
}

// fails makes a call that must fail at the stage, and gives its bare message.
func (b *bench) fails(name, args, stage string) string {
	b.tb.Helper()
	res := b.call(name, args)
	e, _ := res.Extras.Get("error")
	o, err := e.Object()
	if err != nil {
		b.tb.Fatalf("%s %s did not fail: %s", name, args, res.Output.Raw)
	}
	if got, _ := o.Get("stage"); got != state.StringValue(stage) {
		b.tb.Errorf("%s %s failed at %s: %s", name, args, got, res.Output.Raw)
	}
	m, _ := o.Get("message")
	message, _ := m.Text()
	if !strings.Contains(res.Output.Raw, message) {
		b.tb.Errorf("text %q lacks message %q", res.Output.Raw, message)
	}
	return message
}

// field finds a field's value in the first record that has it.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "[["+name+"]]: "); ok {
			return strings.TrimSuffix(value, "\n")
		}
	}
	return ""
}

// fields lists the field names of the text in order.
func fields(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^\[\[(\w+)\]\]: |^(---)$`).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

// want checks fields, given as name=value; an empty value is an absent field.
func want(tb testing.TB, text string, pairs ...string) {
	tb.Helper()
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		if got := field(text, name); got != value {
			tb.Errorf("%s is %q, want %q, in:\n%.2000s", name, got, value, text)
		}
	}
}

func contains(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%q is missing in:\n%.2000s", part, text)
		}
	}
}

func lacks(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			tb.Errorf("%q must not be in:\n%.2000s", part, text)
		}
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// start launches a session that stays, and gives its id.
func (b *bench) start(args string) string {
	b.tb.Helper()
	id := field(b.ok("spawn_process", `{"auto_release":false,"expected_runtime_milliseconds":0,`+args+`}`), "session_id")
	if id == "" {
		b.tb.Fatal("no session id")
	}
	return id
}

// sh is the arguments of a spawn of one shell script.
func sh(script string) string {
	return `"executable":"/bin/sh","arguments":["-c",` + state.StringValue(script).String() + `]`
}

// finished waits until the session is exited and drained, without reading.
func (b *bench) finished(id string) string {
	b.tb.Helper()
	text := b.ok("poll_process", `{"session_ids":["`+id+`"],"include_output":false,"wait_timeout_milliseconds":20000}`)
	if field(text, "timed_out") != "false" {
		b.tb.Fatalf("not finished:\n%s", text)
	}
	return text
}

// eventually waits for what another process is about to do.
func eventually(tb testing.TB, cond func() bool) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for !cond() {
		if time.Now().After(deadline) {
			tb.Fatal("it did not come to that")
		}
		time.Sleep(time.Millisecond)
	}
}
