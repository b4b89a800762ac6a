package mcp_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"simplex/process/sandbox"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/mcp"
	"simplex/tools/mcp/client"
)

func TestToolsAreOfferedUnderOurRules(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := config(t, "")
	cfg.Logger, cfg.Prefix, cfg.Expected = log.logger(), "demo_", []string{"echo", "vanished"}
	cfg.Rule = func(name string) mcp.Rule {
		switch name {
		case "echo":
			return mcp.Rule{Type: state.ReadOnly, Security: state.Trusted}
		case "pid":
			return mcp.Rule{Security: state.DefaultDeny}
		case "fail":
			return mcp.Rule{Hide: true}
		default:
			return mcp.Rule{}
		}
	}
	h := start(t, cfg)
	for _, name := range h.registry.Names() {
		if !strings.HasPrefix(name, "demo_") || name == "demo_fail" {
			t.Errorf("offered: %s", name)
		}
	}
	var echo state.Tool
	for _, offer := range h.registry.Catalogue() {
		if offer.Name == "demo_echo" {
			echo = offer
		}
	}
	properties, _ := echo.ArgumentSchema.Get("properties")
	has(t, properties.String(), `"text":{"type":"string"}`)
	if echo.Description != "does echo" {
		t.Errorf("description: %q", echo.Description)
	}
	settled, _ := h.registry.Prepare(state.Call{Name: "demo_echo", Arguments: value(t, `{"text":"a"}`)}, nil)
	if settled.Type != state.ReadOnly || settled.Security != state.Trusted {
		t.Errorf("echo: %s %s", settled.Type, settled.Security)
	}
	settled, _ = h.registry.Prepare(state.Call{Name: "demo_self", Arguments: value(t, `{}`)}, nil)
	if settled.Type != state.SerialWrite || settled.Security != state.RequireConfirm {
		t.Errorf("a tool without a rule: %s %s", settled.Type, settled.Security)
	}
	has(t, h.fails("demo_self", `{}`), "security check denied", "nobody is there to confirm")
	has(t, h.fails("demo_pid", `{}`), "security check denied", "may not be run")
	has(t, h.fails("demo_echo", `{"txt":"a"}`), `unknown argument "txt"`, `did you mean "text"`)
	if got := h.call("demo_echo", `{"text":"grüß dich","count":null}`); got != "grüß dich" {
		t.Errorf("echo: %q", got)
	}
	has(t, log.String(), "tool=vanished")
}

// A schema that does not close itself lets every argument pass to the server, which alone
// knows what it takes.
func TestArgumentsBeyondAnOpenSchema(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.Rule = func(string) mcp.Rule { return mcp.Rule{Security: state.Trusted} }
	h := start(t, cfg)
	if got := h.call("free", `{"any":{"thing":[1.50]}}`); got != `{"any":{"thing":[1.50]}}` {
		t.Errorf("the server got %s", got)
	}
}

func value(t testing.TB, raw string) state.Value {
	t.Helper()
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestResults(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.MaxResultBytes = 1001
	h := start(t, cfg)
	if got := h.call("big", `{"count":500}`); got != strings.Repeat("é", 500) {
		t.Errorf("exactly the limit: %d bytes", len(got))
	}
	if got := h.call("big", `{"count":501}`); got != strings.Repeat("é", 500)+"\n[truncated: these are the first 1000 of 1002 bytes; ask for less at once]" {
		t.Errorf("over the limit: %q", got)
	}
	if got := h.fails("fail", `{"text":"no such row"}`); got != "no such row" {
		t.Errorf("failure: %q", got)
	}
	if got := h.fails("fail", `{}`); got != "the tool failed and does not say why" {
		t.Errorf("failure without text: %q", got)
	}
	if got := h.call("structured", `{}`); got != `{"a":[2],"b":1}` {
		t.Errorf("structured: %s", got)
	}
	r := h.result("mixed", `{}`)
	if want := "a\uFFFDpicture\n[image image/png, 3 bytes; kept in the record, not shown here]\n" +
		"[audio audio/wav, 1048576 bytes; too large, left out]\n[resource readme: file:///r]\n[resource file:///e]\ninside"; r.Output.Raw != want {
		t.Errorf("mixed: %q", r.Output.Raw)
	}
	kept, _ := r.Extras.Get(mcp.ContentExtra)
	if want := `[{"extras":{"mime_type":"image/png"},"modality":"image","raw":"cG5n","type":"binary"}]`; kept.String() != want {
		t.Errorf("kept: %s", kept)
	}
	has(t, h.fails("echo", `{"count":"x"}`), "type") // the server's own check of the schema
}

func TestServerProcess(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.Environment = append(cfg.Environment, "EXTRA=1")
	h := start(t, cfg)
	has(t, h.call("self", `{}`), "leads=true dir="+cfg.WorkingDirectory+" env=", "EXTRA=1", modeVariable+"=")
	if got := h.call("self", `{}`); strings.Contains(got, "HOME=") {
		t.Errorf("inherited: %s", got)
	}
	// 255 and the like are the Go runtime's own; what counts is that nothing of this process is there.
	open, err := os.Open(filepath.Join(cfg.WorkingDirectory))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Close() }()
	if got := h.call("sh", `{"text":"ls -l /proc/$PPID/fd"}`); strings.Contains(got, cfg.WorkingDirectory) || strings.Contains(got, "socket:") {
		t.Errorf("descriptors: %s", got)
	}
}

func TestDeathDuringACall(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := config(t, "")
	cfg.MaxRestarts, cfg.Logger = 2, log.logger()
	h := start(t, cfg)
	first := h.call("pid", `{}`)
	for range cfg.MaxRestarts {
		has(t, h.fails("die", `{}`), "ended during the call", "unknown", "not repeated")
		if second := h.again("pid", `{}`); second == first {
			t.Fatal("the server did not end")
		}
	}
	h.fails("die", `{}`)
	deadline := time.Now().Add(patience)
	for !strings.Contains(h.fails("echo", `{}`), "will not be started again") {
		if time.Now().After(deadline) {
			t.Fatal(h.fails("echo", `{}`))
		}
	}
	has(t, h.fails("echo", `{}`), "toolset demo cannot be used", "exit status 7")
	has(t, log.String(), "server is given up", "restarts=2")
	h.close()
	has(t, h.fails("echo", `{}`), "cannot be used")
}

func TestRestartThatFails(t *testing.T) {
	t.Parallel()
	cfg := config(t, "once")
	cfg.MaxRestarts, cfg.Backoff = 2, 50*time.Millisecond
	h := start(t, cfg)
	h.fails("die", `{}`)
	seen := map[string]bool{}
	deadline := time.Now().Add(patience)
	for !seen["will not be started again"] && time.Now().Before(deadline) {
		message := h.fails("echo", `{}`)
		for _, stage := range []string{"being started again (1 of 2)", "being started again (2 of 2)", "will not be started again"} {
			seen[stage] = seen[stage] || strings.Contains(message, stage)
		}
	}
	if len(seen) != 3 || !seen["being started again (1 of 2)"] || !seen["being started again (2 of 2)"] {
		t.Errorf("seen: %v", seen)
	}
	has(t, h.fails("echo", `{}`), "cannot be used", "exit status 4", "will not be started again")
}

func TestCallDeadline(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.CallTimeout = 200 * time.Millisecond
	h := start(t, cfg)
	has(t, h.fails("hang", `{}`), "no answer within 200 ms", "unknown")
	if got := h.call("echo", `{"text":"still here"}`); got != "still here" {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, run := h.registry.Prepare(state.Call{Name: "hang", Arguments: value(t, `{}`)}, nil)
	if r := run(ctx); !tools.IsError(r) || !strings.Contains(r.Output.Raw, "worker stopped") {
		t.Errorf("stopped: %s", r.Output.Raw)
	}
}

func TestAnswerTooLargeEndsTheServer(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.MaxRestarts, cfg.MaxMessageBytes = 1, 1<<20
	h := start(t, cfg)
	has(t, h.fails("huge", `{}`), "a message of more than 1048576 bytes", "unknown", "not repeated")
	if got := h.again("echo", `{"text":"new life"}`); got != "new life" {
		t.Error(got)
	}
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		edit func(*mcp.Config)
		is   error
		want string
	}{
		{mode: "exits", want: "the server ended: exit status 3"},
		{
			mode: "exits", want: "it said: cannot find my data, KEY is [redacted]",
			edit: func(c *mcp.Config) { c.Environment = append(c.Environment, "SECRET_KEY=sk-1234567890") },
		},
		{mode: "silent", edit: func(c *mcp.Config) { c.StartTimeout = 300 * time.Millisecond }, is: context.DeadlineExceeded, want: "no answer within 300ms"},
		{mode: "noise", is: client.ErrProtocol, want: "mcp toolset demo: start"},
		{mode: "shadow", is: mcp.ErrShadows, want: `"run_command"`},
		{edit: func(c *mcp.Config) { c.Command = "no-such-server" }, is: exec.ErrNotFound, want: "start"},
		{edit: func(c *mcp.Config) { c.Command, c.Environment = "sh", nil }, is: exec.ErrNotFound, want: "start"},
		{edit: func(c *mcp.Config) { c.WorkingDirectory = "/no/such/dir" }, is: os.ErrNotExist, want: "start"},
		{edit: func(c *mcp.Config) { c.Name = "" }, want: "required"},
	} {
		cfg := config(t, c.mode)
		cfg.Grace = 100 * time.Millisecond
		if c.edit != nil {
			c.edit(&cfg)
		}
		_, err := mcp.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %s", c.mode, err, c.want)
		}
	}
}

func TestShadowingIsAvoidable(t *testing.T) {
	t.Parallel()
	cfg := config(t, "shadow")
	cfg.Prefix = "x_"
	h := start(t, cfg)
	h.call("x_echo", `{}`)
	hidden := config(t, "shadow")
	hidden.Rule = func(name string) mcp.Rule { return mcp.Rule{Hide: name == "run_command"} }
	start(t, hidden)
	// A second set with the same names is the registry's to refuse.
	second, err := mcp.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Shutdown(context.Background()) }()
	if err := h.registry.Add(second); !errors.Is(err, tools.ErrNameTaken) {
		t.Errorf("the same names again: %v", err)
	}
}

func TestUnusableNamesAreLeftOut(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := config(t, "names")
	cfg.Prefix, cfg.Logger = "five5", log.logger()
	h := start(t, cfg)
	for _, name := range h.registry.Names() {
		if strings.Contains(name, ".") || len(name) > 64 {
			t.Errorf("offered: %s", name)
		}
	}
	has(t, log.String(), "dotted.name", "nnnnn")
}

func TestStandardErrorIsBounded(t *testing.T) {
	t.Parallel()
	log := &journal{}
	cfg := config(t, "flood")
	cfg.Logger = log.logger()
	h := start(t, cfg)
	h.call("echo", `{}`)
	h.close()
	got := log.String()
	has(t, got, "line 0 ", "line 999 ", "more than is logged")
	if strings.Contains(got, "line 1000 ") || len(got) > 1300<<10 {
		t.Errorf("%d bytes were logged", len(got))
	}
}

func TestShutdownLeavesNobody(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "stubborn"} {
		cfg := config(t, mode)
		cfg.Grace = 200 * time.Millisecond
		h := start(t, cfg)
		server := h.call("pid", `{}`)
		has(t, h.call("sh", `{"text":"sh -c 'trap : TERM; while :; do sleep 1; done' >/dev/null 2>&1 & echo child=$!;"}`), "child=")
		child := strings.TrimPrefix(strings.Fields(h.call("sh", `{"text":"sleep 1000 >/dev/null 2>&1 & echo child=$!"}`))[0], "child=")
		if !alive(t, server) || !alive(t, child) {
			t.Fatal("not running")
		}
		h.close()
		deadline := time.Now().Add(patience)
		for alive(t, server) || alive(t, child) {
			if time.Now().After(deadline) {
				t.Fatalf("%q: server %v, child %v", mode, alive(t, server), alive(t, child))
			}
		}
	}
}

func TestShutdownDuringACallAndAStop(t *testing.T) {
	t.Parallel()
	cfg := config(t, "")
	cfg.Grace = time.Hour
	h := start(t, cfg)
	server := h.call("pid", `{}`)
	answer := make(chan state.Result, 1)
	go func() { answer <- h.result("stop", `{}`) }()
	for { // until it has stopped
		raw, err := os.ReadFile("/proc/" + server + "/stat")
		if err != nil || strings.Contains(string(raw), ") T ") {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	h.closing.Do(func() {
		if err := h.registry.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	has(t, (<-answer).Output.Raw, "unknown", "not repeated")
}

func TestConfinedServer(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	box := &sandbox.Box{Workspace: filepath.Join(root, "work"), Temp: filepath.Join(root, "temp")}
	for _, dir := range []string{box.Workspace, box.Temp} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := box.Check(); err != nil {
		t.Skip(err)
	}
	cfg := config(t, "")
	cfg.Sandbox, cfg.WorkingDirectory = box, box.Workspace
	h := start(t, cfg)
	if got := h.call("sh", `{"text":"echo x > inside && echo x > $TMPDIR/inside && echo done"}`); got != "done\n<nil>" {
		t.Errorf("inside: %s", got)
	}
	if got := h.call("sh", `{"text":"echo x > ../outside"}`); !strings.Contains(got, "denied") {
		t.Errorf("outside: %s", got)
	}
	has(t, h.call("self", `{}`), "leads=true", "TMPDIR="+box.Temp)
}
