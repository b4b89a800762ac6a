package offline_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/offline"
	"simplex/llm/responses"
	"simplex/state"
)

const sentence = "This answer comes from a server with a quirk, and it is here from the first word to the last."

// quirk is one public report: what the server does, and what has to come of it.
type quirk struct {
	scenario string
	report   string
	turns    int      // user messages; 0: one
	says     []string // parts of the last text
	stage    llm.Stage
	words    string // of the failure
	is       error
	requests int
	// responses is the row for the other protocol where it differs.
	responses *quirk
	overflow  bool
}

func quirks() []quirk {
	cut := quirk{stage: llm.StageRead, is: llm.ErrTruncated, requests: 3}
	three := []string{"> a.txt", "> b.txt", "> c.txt"}
	silent := func(name string) quirk {
		return quirk{scenario: name, report: "BR-046", stage: llm.StageRead, is: llm.ErrIdleTimeout, requests: 2}
	}
	full := func(name string) quirk {
		q := quirk{scenario: name, report: "BR-048", turns: 2, stage: llm.StageRejected, requests: 2, overflow: true}
		if strings.HasSuffix(name, "stream") {
			q.stage = llm.StageProvider
		}
		return q
	}
	limited := func(name string) quirk {
		return quirk{scenario: name, report: "BR-045", says: []string{"Thank you for waiting"}, requests: 2}
	}
	return []quirk{
		{scenario: "no-finish", report: "BR-039", stage: cut.stage, is: cut.is, requests: 3},
		{scenario: "done-only", report: "BR-039", says: []string{sentence}, requests: 1, responses: &cut},
		{scenario: "finish-only", report: "BR-039", says: []string{sentence}, requests: 1},
		{scenario: "empty-choices", report: "BR-040", says: []string{sentence}, requests: 1},
		{scenario: "index-zero", report: "BR-041", says: three, requests: 2},
		{scenario: "index-none", report: "BR-041", says: three, requests: 2},
		{scenario: "wants-reasoning", report: "BR-042", says: []string{"> did it"}, requests: 2},
		{scenario: "refuses-reasoning", report: "BR-042", says: []string{"> did it"}, requests: 2},
		{scenario: "keep-alive", report: "BR-043", says: []string{sentence}, requests: 1},
		{scenario: "error-first", report: "BR-044", stage: llm.StageProvider, words: "with an error 429: quota exceeded", requests: 3},
		{scenario: "error-later", report: "BR-044", stage: llm.StageProvider, words: "the backend was lost", requests: 1},
		{scenario: "error-plain", report: "BR-044", stage: llm.StageProvider, words: "the key has expired", requests: 1},
		limited("retry-after"), limited("retry-after:date"), limited("retry-after:0"), limited("retry-after:86400"),
		limited("retry-after:-5"), limited("retry-after:soon"), limited("busy"), limited("busy:2"),
		silent("hang"), silent("stall"),
		{scenario: "drip", report: "BR-046", says: []string{sentence}, requests: 1},
		{scenario: "cut-empty", report: "BR-047", stage: llm.StageFinish, words: `"length"`, requests: 1, responses: &quirk{stage: llm.StageFinish, words: `"max_output_tokens"`, requests: 1}},
		{scenario: "cut-call", report: "BR-047", stage: llm.StageFinish, words: `"length"`, requests: 1, responses: &quirk{stage: llm.StageFinish, words: `"max_output_tokens"`, requests: 1}},
		{scenario: "filtered", report: "BR-047", stage: llm.StageFinish, words: `"content_filter"`, requests: 1},
		{scenario: "finish", report: "BR-047", stage: llm.StageFinish, words: `"eos"`, requests: 1},
		{scenario: "finish:model_context_window_exceeded", report: "BR-048", stage: llm.StageFinish, words: "context_window", requests: 1, overflow: true},
		full("overflow"), full("overflow:words"), full("overflow:long"), full("overflow:stream"),
		{scenario: "silent", report: "BR-049", turns: 2, says: []string{"Now I speak."}, requests: 2},
		{scenario: "strict", report: "BR-049", turns: 3, says: []string{"> did it"}, requests: 6},
		{scenario: "two-slow", report: "BR-050", turns: 2, says: []string{"Every call has its result."}, requests: 3},
		{scenario: "bad-arguments", report: "BR-051", turns: 2, says: []string{"> Failed argument_parse"}, requests: 4},
		{scenario: "unknown-tool", report: "BR-052", says: []string{"> Failed dispatch"}, requests: 2},
		{scenario: "unknown-tool:30", report: "BR-052", says: []string{"> Failed dispatch"}, requests: 31},
		{scenario: "wrong-case", report: "BR-052", says: []string{"> Failed dispatch"}, requests: 2},
		{scenario: "same-ids", report: "BR-053", turns: 2, says: []string{"> did it"}, requests: 10},
	}
}

// TestQuirks drives both adapters against each quirk; before each exchange the
// conversation goes through its file form.
func TestQuirks(t *testing.T) {
	t.Parallel()
	for _, q := range quirks() {
		t.Run(q.scenario, func(t *testing.T) {
			t.Parallel()
			for _, protocol := range []string{"chat", "responses"} {
				t.Run(protocol, func(t *testing.T) {
					t.Parallel()
					want := q
					if protocol == "responses" && q.responses != nil {
						want = *q.responses
					}
					want.check(t, protocol, q.scenario, max(1, q.turns))
				})
			}
		})
	}
}

func (q quirk) check(t *testing.T, protocol, scenario string, turns int) {
	server, err := offline.Start(offline.Config{Scenario: scenario, Slow: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p := speaker(t, protocol, scenario, server.URL())
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	var text string
	st := conversation("turn 1")
	for turn := 1; turn <= turns && err == nil; turn++ {
		if turn > 1 {
			st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", fmt.Sprint("turn ", turn))})
		}
		st, text, err = converse(t, p, st)
	}
	if n := len(server.Requests()); n != q.requests {
		t.Errorf("%d requests, want %d", n, q.requests)
	}
	if q.stage == "" {
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range q.says {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in %q", part, text)
			}
		}
		return
	}
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || failed.Stage != q.stage || !strings.Contains(err.Error(), q.words) || q.is != nil && !errors.Is(err, q.is) {
		t.Fatalf("%q, %v", text, err)
	}
	if failed.ContextExceeded() != q.overflow {
		t.Errorf("ContextExceeded is %v for %v", !q.overflow, err)
	}
}

// speaker gives a provider of the protocol, which tries twice more, or
// once where it waits for a timeout.
func speaker(t *testing.T, protocol, scenario, url string) llm.Provider {
	t.Helper()
	cfg := llm.Config{
		Name: "test", Model: "m", Endpoint: llm.Endpoint{BaseURL: url},
		Retry: llm.Retry{MaxAttempts: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Millisecond, IdleTimeout: 20 * time.Second},
	}
	switch scenario {
	case "stall", "hang":
		cfg.Retry.MaxAttempts, cfg.Retry.IdleTimeout = 1, 500*time.Millisecond
	case "drip": // takes longer than this as a whole
		cfg.Retry.IdleTimeout = 700 * time.Millisecond
	}
	var p llm.Provider
	var err error
	if protocol == "responses" {
		p, err = responses.New(responses.Config{Config: cfg, Dialect: responses.OpenAI()})
	} else {
		d := chat.Generic()
		d.ReplaysReasoning = func(state.Object) bool { return scenario == "wants-reasoning" }
		p, err = chat.New(chat.Config{Config: cfg, Dialect: d})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// converse runs exchanges until there are no more calls, and answers those that there
// are as the tool registry would.
func converse(t *testing.T, p llm.Provider, st *state.State) (*state.State, string, error) {
	t.Helper()
	for range 50 {
		st = reloaded(t, st)
		m, err := p.Exchange(t.Context(), llm.Request{State: st})
		if err != nil {
			return st, "", err
		}
		if m.Cost == nil || m.Cost.Prompt == 0 {
			t.Errorf("cost %+v", m.Cost)
		}
		step := &state.Step{ModelResponse: m}
		for _, c := range m.Calls {
			step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: c, Output: state.TextContent(did(c))}))
		}
		st.AppendStep(step)
		if len(m.Calls) == 0 {
			return st, m.Text(), nil
		}
	}
	return st, "", errors.New("the model never ends")
}

func did(c state.Call) string {
	var args struct {
		Command string `json:"command"`
	}
	switch {
	case c.Name != "run_command":
		return "Failed dispatch: no tool of that name; there are: run_command"
	case c.Arguments.Kind() != '{':
		return "Failed argument_parse: the arguments are no JSON object"
	case c.Arguments.Decode(&args) != nil:
		return "Failed argument_parse: command must be a string"
	}
	printed := "did it"
	if word, isEcho := strings.CutPrefix(args.Command, "echo "); isEcho && strings.HasSuffix(word, ".txt") {
		printed = word
	}
	return "exit_code: 0\nstdout (1 bytes):\n```\n" + printed + "\n```\n"
}

// reloaded is the conversation as a restart would find it.
func reloaded(t *testing.T, st *state.State) *state.State {
	t.Helper()
	var file bytes.Buffer
	if err := state.Encode(&file, st); err != nil {
		t.Fatal(err)
	}
	out, err := state.Decode(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryQuirkIsTested: the table above has each scenario that is one.
func TestEveryQuirkIsTested(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, q := range quirks() {
		name, _, _ := strings.Cut(q.scenario, ":")
		tested[name] = true
	}
	models := map[string]bool{"auto": true, "text": true, "echo": true, "slow": true, "error": true, "two-tools": true, "turns": true}
	for _, sc := range offline.Scenarios() {
		if name, _, _ := strings.Cut(sc.Name, ":"); !tested[name] && !models[name] {
			t.Errorf("%s is in no row", sc.Name)
		}
	}
}

// TestReasoningIsWanted: without it, the server says no.
func TestReasoningIsWanted(t *testing.T) {
	t.Parallel()
	server, err := offline.Start(offline.Config{Scenario: "wants-reasoning"})
	if err != nil {
		t.Fatal(err)
	}
	p := speaker(t, "chat", "", server.URL())
	_, _, err = converse(t, p, conversation("go"))
	if err == nil || !strings.Contains(err.Error(), "reasoning_content is missing") {
		t.Error(err)
	}
	if err := errors.Join(p.Close(), server.Close()); err != nil {
		t.Error(err)
	}
}

// TestOverflowPassesOnceCompacted: the request for a summary and what follows it.
func TestOverflowPassesOnceCompacted(t *testing.T) {
	t.Parallel()
	p := provider(t, "overflow")
	st, _, err := converse(t, p, conversation("go"))
	if err != nil {
		t.Fatal(err)
	}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "The conversation above is about to be replaced by a summary that you write now.")})
	if _, text, err := converse(t, p, st); err != nil || text == "" {
		t.Error(text, err)
	}
	if _, _, err := converse(t, p, conversation("go on")); err != nil {
		t.Error(err)
	}
}

// TestScenariosOnThePage: docs/providers.md lists what there is, in the same words.
func TestScenariosOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| scenario | what the model, or its server, does |\n| --- | --- |\n")
	for _, sc := range offline.Scenarios() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", sc.Name, sc.About)
	}
	if !strings.Contains(string(page), table.String()) {
		t.Errorf("docs/providers.md should hold this table:\n%s", &table)
	}
}
