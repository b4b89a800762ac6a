package external_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"simplex/hooks"
	"simplex/hooks/external"
	"simplex/state"
)

const modeVariable = "HOOK_TEST_PROGRAM"

const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if mode, ok := os.LookupEnv(modeVariable); ok {
		program(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// program is a hook that misbehaves as its mode says. By default it answers every edit
// event with the value of `answer` in its configuration, and writes what it heard to
// the file `heard`.
func program(mode string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	in.Scan()
	var hello struct {
		Config struct {
			Answer string `json:"answer"`
		} `json:"config"`
	}
	_ = json.Unmarshal(in.Bytes(), &hello)
	first := append([]byte{}, in.Bytes()...)
	switch mode {
	case "exits":
		os.Exit(3)
	case "mute":
		time.Sleep(time.Hour)
	case "rude":
		fmt.Println("hello yourself")
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Println(`{"type":"ready","protocol":1}`)
	heard, _ := os.OpenFile("heard", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	fmt.Fprintf(heard, "%s\n", first)
	for in.Scan() {
		fmt.Fprintf(heard, "%s\n", in.Bytes())
		var e struct {
			ID     uint64 `json:"id"`
			Answer bool   `json:"answer"`
		}
		_ = json.Unmarshal(in.Bytes(), &e)
		switch {
		case mode == "dies":
			os.Exit(5)
		case mode == "sleeps" || mode == "late once" && missing("slept"):
			time.Sleep(time.Hour)
		case mode == "chatters":
			fmt.Println(`{"type":"answer","id":99}`)
		case mode == "floods":
			fmt.Println(strings.Repeat("x", 1<<20))
		case e.Answer:
			fmt.Println(strings.ReplaceAll(hello.Config.Answer, "ID", fmt.Sprint(e.ID)))
		}
	}
	if mode == "stubborn" {
		time.Sleep(time.Hour)
	}
}

// missing tells whether the file was not there, and makes it.
func missing(file string) bool {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

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

func config(t testing.TB, mode, answer string) (external.Config, *journal) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	settings := state.ObjectFrom([]state.Member{{Name: "answer", Value: state.StringValue(answer)}})
	log := &journal{}
	return external.Config{
		Name: "demo", Command: exe, WorkingDirectory: t.TempDir(), Environment: []string{modeVariable + "=" + mode},
		Settings: settings, Events: hooks.Names(), Deadline: patience,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, log
}

func start(t testing.TB, cfg external.Config) *external.Hook {
	t.Helper()
	h, err := external.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// conversation has one turn with one step and a prompt.
func conversation() *state.State {
	st := state.New("s1", time.Unix(0, 0))
	st.SystemPrompt.Sections = []state.Section{{Name: "base", Title: "Base", Stability: state.Immutable, Text: "Be kind."}}
	for _, text := range []string{"first", "second"} {
		st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", text), Retain: state.RetainNormal})
		st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", "answer to "+text), Retain: state.RetainNormal})
	}
	return st
}

func editEvent(st *state.State) *hooks.Event {
	return &hooks.Event{Name: hooks.EditOnRunFinished, State: st, Edit: st.Clone()}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEdits(t *testing.T) {
	t.Parallel()
	st := conversation()
	second := encode(t, st.Turns[1])
	answer := func(edit string) string { return `{"type":"answer","id":ID,"edit":` + edit + `}` }
	for _, c := range []struct {
		name, answer string
		phase        state.LoopPhase
		want         func(*state.State) bool
		is           error
	}{
		{name: "none", answer: `{"type":"answer","id":ID}`, want: func(e *state.State) bool { return true }},
		{name: "null", answer: answer(`null`), want: func(e *state.State) bool { return true }},
		{name: "empty", answer: answer(`{}`), want: func(e *state.State) bool { return true }},
		{name: "extras", answer: answer(`{"extras":{"note":1}}`), want: func(e *state.State) bool { return e.Extras.String() == `{"note":1}` }},
		{name: "drop a turn", answer: answer(`{"turns":[` + second + `]}`), want: func(e *state.State) bool {
			return len(e.Turns) == 1 && e.Turns[0] == st.Turns[1] // the very record
		}},
		{name: "prompt", answer: answer(`{"system_prompt":{"heading_level":2,"sections":[{"name":"n","title":"N","stability":"growing","text":"x"}]}}`), want: func(e *state.State) bool {
			return len(e.SystemPrompt.Sections) == 1 && e.SystemPrompt.Sections[0].Name == "n"
		}},
		{name: "all turns", answer: answer(`{"turns":[]}`), is: external.ErrEdit},
		{name: "loop", answer: answer(`{"loop":{"status":"idle"}}`), is: external.ErrEdit},
		{name: "tools", answer: answer(`{"extras":{},"tools":[]}`), is: external.ErrEdit},
		{name: "shape", answer: answer(`{"extras":{"ok":1},"turns":[{"user_input":7}]}`), is: external.ErrEdit},
		{name: "structure", answer: answer(`{"extras":{"ok":1},"turns":[{"user_input":{"type":"model_response"}}]}`), is: external.ErrEdit},
		{name: "prompt that does not render", answer: answer(`{"system_prompt":{"heading_level":9,"sections":[{"name":"n","title":"N","stability":"growing","text":"x"}]}}`), is: external.ErrEdit},
		{name: "frozen", answer: answer(`{"turns":[` + second + `]}`), phase: state.PhaseBlocked, is: external.ErrEdit},
		{name: "own failure", answer: `{"type":"answer","id":ID,"error":"no disk"}`, is: external.ErrReported},
		{name: "no object", answer: answer(`[1]`), is: external.ErrProtocol},
		{name: "unknown member", answer: `{"type":"answer","id":ID,"edits":{}}`, is: external.ErrProtocol},
		{name: "wrong type", answer: `{"type":"ready","protocol":1,"id":ID}`, is: external.ErrProtocol},
		{name: "no JSON", answer: `sure!`, is: external.ErrProtocol},
		{name: "duplicate member", answer: `{"type":"answer","id":ID,"id":ID}`, is: external.ErrProtocol},
	} {
		for _, open := range []bool{false, true} {
			cfg, log := config(t, "", c.answer)
			cfg.FailOpen = open
			h := start(t, cfg)
			now := st.Clone()
			if c.phase != "" {
				now.Loop.Phase = c.phase
			}
			e := editEvent(now)
			before := encode(t, e.Edit)
			err := hooks.NewRegistry(h).Dispatch(t.Context(), e)
			switch {
			case c.is == nil:
				if err != nil || !c.want(e.Edit) {
					t.Errorf("%s: %v, %s", c.name, err, encode(t, e.Edit))
				}
				continue
			case open && (err != nil || !strings.Contains(log.String(), "the run goes on without it")):
				t.Errorf("%s, open: %v\n%s", c.name, err, log)
			case !open && !errors.Is(err, c.is):
				t.Errorf("%s: %v, want %v", c.name, err, c.is)
			}
			if after := encode(t, e.Edit); after != before {
				t.Errorf("%s: not rolled back: %s", c.name, after)
			}
		}
	}
}

func TestWhatTheProgramHears(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "", `{"type":"answer","id":ID}`)
	cfg.Events = []hooks.Name{hooks.RunStarted, hooks.BeforeInput, hooks.ToolResultsCommitted, hooks.EditOnStepFinished}
	h := start(t, cfg)
	st := conversation()
	call := state.Call{ID: "c1", Name: "run_command", Arguments: state.EmptyObject().Value}
	for _, e := range []*hooks.Event{
		{Name: hooks.RunStarted, State: st},
		{Name: hooks.BeforeInput, State: st, Input: state.NewTextMessage(state.UserInput, "user", "two\nlines")},
		{Name: hooks.InputCommitted, State: st}, // not wanted
		{Name: hooks.ToolResultsCommitted, State: st, Calls: []state.Call{call}, Results: []state.Result{{Call: call, Output: state.TextContent("out")}}},
		{Name: hooks.EditOnStepFinished, State: st, Edit: st.Clone()},
	} {
		if err := h.Handle(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(cfg.WorkingDirectory + "/heard")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	for i, want := range []string{
		`{"type":"hello","protocol":1,"hook":"demo","events":["RunStarted","BeforeInput","ToolResultsCommitted","EditOnStepFinished"],"config":{"answer":`,
		`{"type":"event","id":1,"event":"RunStarted","answer":false,"state":{`,
		`{"type":"event","id":2,"event":"BeforeInput","answer":false,"input":{`,
		`{"type":"event","id":3,"event":"ToolResultsCommitted","answer":false,"calls":[{`,
		`{"type":"event","id":4,"event":"EditOnStepFinished","answer":true,"state":{`,
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d: %q, want %s", i, lines, want)
		}
	}
	if len(lines) != 5 || strings.Contains(lines[3], `"state"`) {
		t.Errorf("%d lines; %s", len(lines), lines[3])
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		is   error
		want string
	}{
		{mode: "dies", want: "exit status 5"},
		{mode: "sleeps", is: context.DeadlineExceeded, want: "no answer in time"},
		{mode: "chatters", is: external.ErrProtocol, want: "was wanted"},
		{mode: "floods", is: external.ErrProtocol, want: "more than 1000 bytes"},
	} {
		cfg, log := config(t, c.mode, "")
		cfg.MaxAnswerBytes, cfg.MaxRestarts = 1000, 1
		if c.mode == "sleeps" {
			cfg.Deadline = 500 * time.Millisecond
		}
		h := start(t, cfg)
		for range 2 {
			err := h.Handle(t.Context(), editEvent(conversation()))
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s: %v, want %s", c.mode, err, c.want)
			}
		}
		if err := h.Handle(t.Context(), editEvent(conversation())); !errors.Is(err, external.ErrDown) {
			t.Errorf("%s: %v, want it down", c.mode, err)
		}
		if got := log.String(); strings.Count(got, "started again") != 1 {
			t.Errorf("%s: %s", c.mode, got)
		}
	}
}

// TestDeathIsVisible: the end of a program is told when it happens, without an event.
func TestDeathIsVisible(t *testing.T) {
	t.Parallel()
	cfg, log := config(t, "dies", "")
	h := start(t, cfg)
	if err := h.Handle(t.Context(), &hooks.Event{Name: hooks.StepFinished}); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for !strings.Contains(log.String(), "ended by itself") {
		if time.Now().After(deadline) {
			t.Fatal("nothing in the log")
		}
		time.Sleep(time.Millisecond) // a log has no event to wait for
	}
	if err := h.Handle(t.Context(), &hooks.Event{Name: hooks.StepFinished}); !errors.Is(err, external.ErrDown) {
		t.Errorf("the next event: %v", err)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "late once", `{"type":"answer","id":ID,"edit":{"extras":{"a":1}}}`)
	cfg.Deadline, cfg.MaxRestarts = 2*time.Second, 1
	h := start(t, cfg)
	if err := h.Handle(t.Context(), editEvent(conversation())); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	e := editEvent(conversation())
	if err := h.Handle(t.Context(), e); err != nil || e.Edit.Extras.String() != `{"a":1}` {
		t.Errorf("after the restart: %v, %s", err, e.Edit.Extras)
	}
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		edit func(*external.Config)
		is   error
		want string
	}{
		{mode: "exits", want: "exit status 3"},
		{mode: "rude", is: external.ErrProtocol},
		{mode: "mute", edit: func(c *external.Config) { c.Deadline = 300 * time.Millisecond }, is: context.DeadlineExceeded},
		{edit: func(c *external.Config) { c.Command = "/no/such/program" }, is: fs.ErrNotExist},
		{edit: func(c *external.Config) { c.Command = "no-such-program" }, is: exec.ErrNotFound},
		{edit: func(c *external.Config) { c.Events = []hooks.Name{"OnTuesday"} }, is: external.ErrEvent, want: "OnTuesday"},
		{edit: func(c *external.Config) { c.Events = nil }, want: "required"},
	} {
		cfg, _ := config(t, c.mode, "")
		cfg.Grace = 100 * time.Millisecond
		if c.edit != nil {
			c.edit(&cfg)
		}
		_, err := external.Start(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.mode, err)
		}
	}
}

func TestCloseIsSure(t *testing.T) {
	t.Parallel()
	cfg, _ := config(t, "stubborn", "")
	cfg.Grace = 100 * time.Millisecond
	h := start(t, cfg)
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := h.Handle(t.Context(), editEvent(conversation())); !errors.Is(err, external.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// TestShellHook is the example of docs/plugins.md: a hook in a few lines of shell.
func TestShellHook(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("no jq")
	}
	cfg, _ := config(t, "", "")
	cfg.Command, cfg.Environment = "/bin/sh", []string{"PATH=/usr/bin:/bin"}
	cfg.Args = []string{"-c", shellHook}
	cfg.Events = []hooks.Name{hooks.EditOnRunFinished}
	e := editEvent(conversation())
	if err := start(t, cfg).Handle(t.Context(), e); err != nil || e.Edit.Extras.String() != `{"turns_seen":2}` {
		t.Errorf("%v, %s", err, e.Edit.Extras)
	}
}

const shellHook = `read -r hello
echo '{"type":"ready","protocol":1}'
while read -r line; do
  printf '%s\n' "$line" | jq -c '{type: "answer", id, edit: {extras: ((.state.extras // {}) + {turns_seen: (.state.turns | length)})}}'
done`

func FuzzAnswer(f *testing.F) {
	f.Add(`{"extras":{"a":1}}`)
	f.Add(`{"turns":[{"user_input":{"type":"user_input","content":[]}}],"system_prompt":{}}`)
	f.Fuzz(func(t *testing.T, edit string) {
		o, err := state.ParseObject([]byte(edit))
		if err != nil {
			return
		}
		st := conversation()
		now := st.Clone()
		before := encode(t, now)
		if err := external.Apply(now, o); err != nil {
			if encode(t, now) != before {
				t.Fatalf("%s: refused and applied", edit)
			}
			return
		}
		if err := state.Check(now); err != nil || encode(t, *now.Loop) != encode(t, *st.Loop) {
			t.Fatalf("%s: %v", edit, err)
		}
	})
}
