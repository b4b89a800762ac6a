package offline_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"simplex/llm"
	"simplex/llm/offline"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func provider(t *testing.T, scenario string) *offline.Provider {
	t.Helper()
	cfg := llm.Config{Name: "offline", Model: "offline"}
	if scenario != "" {
		cfg.Settings = state.EmptyObject().With("scenario", state.StringValue(scenario))
	}
	p, err := offline.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func conversation(input string) *state.State {
	st := state.New("s", time.Unix(0, 0))
	st.Tools = []state.Tool{{Name: "run_command", ArgumentSchema: state.EmptyObject()}}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", input)})
	return st
}

// play runs exchanges, each call answered by run, until there are no more calls. It
// gives the number of steps and the last text.
func play(t *testing.T, p llm.Provider, st *state.State, run func(line string) string) (int, string) {
	t.Helper()
	for steps := 1; ; steps++ {
		m, err := p.Exchange(t.Context(), llm.Request{State: st})
		if err != nil {
			t.Fatal(err)
		}
		step := &state.Step{ModelResponse: m}
		for _, c := range m.Calls {
			var args struct {
				Command string `json:"command"`
			}
			if err := c.Arguments.Decode(&args); err != nil || c.Name != "run_command" {
				t.Fatal(c.Name, err)
			}
			step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: c, Output: state.TextContent(run(args.Command))}))
		}
		st.AppendStep(step)
		if m.Cost == nil || m.Cost.Prompt == 0 || m.Cost.Generated == 0 {
			t.Errorf("cost %+v", m.Cost)
		}
		if len(m.Calls) == 0 {
			return steps, m.Text()
		}
	}
}

// really runs a command and gives its output in the form of the process tools.
func really(t *testing.T) func(string) string {
	return func(line string) string {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
		if err != nil {
			t.Fatal(err)
		}
		return "[[state]]: exited\n[[exit_code]]: 0\n\nstdout (5 bytes):\n" + string(out) + "\nstderr: (empty)\n"
	}
}

func TestAutoAnswersFromTheCommand(t *testing.T) {
	t.Parallel()
	p, st := provider(t, ""), conversation("what is here?")
	var printed string
	run := really(t)
	steps, text := play(t, p, st, func(line string) string {
		result := run(line)
		printed = result
		return result
	})
	if steps != 2 || !strings.Contains(text, "> files here: ") || strings.Contains(text, "stderr") {
		t.Errorf("%d steps: %s\n%s", steps, text, printed)
	}
	// A later turn asks again, with ids that are new.
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "and now?")})
	if steps, _ := play(t, p, st, run); steps != 2 {
		t.Errorf("second turn took %d steps", steps)
	}
}

func TestAutoSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		"Failed the security check: operator decision (tool run_command; call call_1)":      "was not carried out",
		"exit_code: 3\n\n## Output\nstdout (2 bytes):\n````\na```\n````\n\nstderr: (empty)": "exit code 3 and printed:\n\n> a```",
		"[[exit_code]]: 2\n[[pid]]: 7\n\nstdout (11 bytes):\na\n\nb\n\nstderr: (empty)\n":   "exit code 2 and printed:\n\n> a\n> \n> b",
		"[[exit_code]]: 0\n\nstdout: (empty)\n\nstderr (1 bytes):\nx":                       "> (nothing)",
		"plain words":                        "The tool said:\n\n> plain words",
		"stdout (0 bytes):\n```\n```\nother": "> (nothing)",
	} {
		if _, text := play(t, provider(t, "auto"), conversation("go"), func(string) string { return result }); !strings.Contains(text, want) {
			t.Errorf("%q: %s", result, text)
		}
	}
	st := conversation("go")
	st.Tools = nil
	if steps, text := play(t, provider(t, "auto"), st, nil); steps != 1 || !strings.Contains(text, "no tool") {
		t.Error(text)
	}
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string]struct {
		steps int
		calls int
		text  string
	}{
		"text":      {1, 0, "offline model"},
		"echo":      {1, 0, "echo: say it"},
		"two-tools": {2, 2, "> first\n\nThe command printed:\n\n> second"},
		"turns:5":   {6, 5, "> turn 5"},
		"turns:0":   {1, 0, "No tool"},
		"slow":      {1, 0, "took its time"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			calls, run := 0, really(t)
			steps, text := play(t, provider(t, scenario), conversation("say it"), func(line string) string { calls++; return run(line) })
			if steps != want.steps || calls != want.calls || !strings.Contains(text, want.text) {
				t.Errorf("%d steps, %d calls: %s", steps, calls, text)
			}
		})
	}
}

func TestErrorScenario(t *testing.T) {
	t.Parallel()
	_, err := provider(t, "error").Exchange(t.Context(), llm.Request{State: conversation("go")})
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || failed.Status != http.StatusInternalServerError || !strings.Contains(err.Error(), "always fails") {
		t.Error(err)
	}
}

func TestHangEndsWithTheClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := provider(t, "hang").Exchange(ctx, llm.Request{State: conversation("go")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{`{"scenario":"dance"}`, `{"scenario":5}`, `{"scenario":"turns"}`, `{"scenario":"turns:-1"}`, `{"scenario":"auto:1"}`, `{"scenrio":"text"}`, `{"scenario":"text","temperature":1}`} {
		o, _ := state.ParseObject([]byte(settings))
		if _, err := offline.New(llm.Config{Model: "m", Settings: o}); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%s: %v", settings, err)
		}
	}
	if _, err := offline.Start(offline.Config{Scenario: "dance"}); err == nil {
		t.Error("a server with an unknown scenario started")
	}
	p, err := offline.New(llm.Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil { // never used: nothing was started
		t.Error(err)
	}
	if _, err := p.Exchange(t.Context(), llm.Request{State: conversation("go")}); err == nil {
		t.Error("a closed provider answers")
	}
}

// TestServerAlone speaks to the server as any other program would.
func TestServerAlone(t *testing.T) {
	t.Parallel()
	s, err := offline.Start(offline.Config{Scenario: "text"})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	post := func(body string) (int, string) {
		resp, err := client.Post(s.URL()+"/any/path", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		out, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(out)
	}
	if status, out := post(`{"model":"mock-echo","messages":[{"role":"user","content":"hi"}]}`); status != 200 || !strings.Contains(out, "echo: hi") || !strings.HasSuffix(out, "data: [DONE]\n\n") {
		t.Error(status, out)
	}
	if status, _ := post(`{`); status != http.StatusBadRequest {
		t.Error(status)
	}
	resp, err := client.Get(s.URL())
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Error(resp, err)
	}
	resp.Body.Close()
	for range 60 {
		post(`{"model":"m","messages":[]}`)
	}
	if n := len(s.Requests()); n != 50 {
		t.Errorf("%d requests are kept", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
