package offline

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// DefaultCommand is what the scenario auto runs: it tells something true about any
// machine with a POSIX shell.
const DefaultCommand = `uname -sr; date +%Y; echo "files here: $(ls | wc -l)"`

// DefaultSlow is how long the scenario slow waits.
const DefaultSlow = 1500 * time.Millisecond

const tool = "run_command"

// Scenario is one way in which the offline model behaves.
type Scenario struct {
	Name  string // with `:WORD` in capitals: a word or number may follow the colon
	About string // one line
}

// scenario is a Scenario with what plays it.
type scenario struct {
	Scenario
	// play answers; arg is what stands behind the colon.
	play func(s *Server, r *request, arg string) Reply
	// fits tells whether an argument makes sense, the empty one included; nil: only the
	// empty one does.
	fits func(arg string) bool
	// strict servers refuse a conversation that is not valid.
	strict bool
}

// Scenarios lists all of them: first those that play a model, then the quirks that
// servers have shown.
func Scenarios() []Scenario {
	var out []Scenario
	for _, sc := range all() {
		out = append(out, sc.Scenario)
	}
	return out
}

func all() []scenario {
	out := plain()
	for _, quirks := range [][]scenario{streamQuirks(), failureQuirks(), callQuirks()} {
		for _, q := range quirks {
			q.strict = true
			out = append(out, q)
		}
	}
	return out
}

// CheckScenario refuses a name that is no scenario; "" is auto.
func CheckScenario(name string) error {
	if _, _, ok := find(name); name == "" || ok {
		return nil
	}
	var names []string
	for _, sc := range Scenarios() {
		names = append(names, sc.Name)
	}
	return fmt.Errorf("unknown offline scenario %q; there are: %s", name, strings.Join(names, ", "))
}

// find gives the scenario of a name, and the argument in it.
func find(name string) (scenario, string, bool) {
	word, arg, hasArg := strings.Cut(name, ":")
	for _, sc := range all() {
		if known, _, _ := strings.Cut(sc.Name, ":"); known != word {
			continue
		}
		if sc.fits == nil {
			return sc, "", !hasArg
		}
		return sc, arg, sc.fits(arg) && (arg != "" || !hasArg)
	}
	return scenario{}, "", false
}

// pick chooses the scenario: the request's own `scenario`, a model of that name (also
// with mock- or offline- in front), or the server's.
func (s *Server) pick(r *request) (scenario, string) {
	model := strings.TrimPrefix(strings.TrimPrefix(r.Model, "mock-"), "offline-")
	for _, name := range []string{r.Scenario, model, s.cfg.Scenario, "auto"} {
		if sc, arg, ok := find(name); ok {
			return sc, arg
		}
	}
	return scenario{}, ""
}

// play makes a scenario's answer.
func (s *Server) play(r *request) Reply {
	sc, arg := s.pick(r)
	if sc.strict {
		if err := r.check(); err != nil {
			return refusal(http.StatusBadRequest, "invalid_request_error", "", "a strict server refuses this conversation: "+err.Error())
		}
	}
	return sc.play(s, r, arg)
}

// refusal is an answer that is an error object.
func refusal(status int, kind, code, message string) Reply {
	return Reply{
		Status: status,
		Header: map[string]string{"Content-Type": "application/json"},
		Body:   `{"error":` + fault(kind, code, message) + `}`,
	}
}

// fault is an error object.
func fault(kind, code, message string) string {
	object := map[string]any{"message": message, "type": kind}
	if code != "" {
		object["code"] = code
	}
	raw, _ := json.Marshal(object, json.Deterministic(true)) // texts always encode
	return string(raw)
}

// plain are the scenarios that play a model.
func plain() []scenario {
	return []scenario{
		{Scenario: Scenario{"auto", "asks run_command for a real command, then answers from its output; the default"}, play: func(s *Server, r *request, _ string) Reply { return r.auto(s.cfg.Command) }},
		{Scenario: Scenario{"text", "says a fixed text"}, play: func(*Server, *request, string) Reply {
			return Reply{Text: "This is the offline model. It has no network and no key, and it always says this."}
		}},
		{Scenario: Scenario{"echo", "says the last user message"}, play: func(_ *Server, r *request, _ string) Reply { return Reply{Text: "echo: " + r.lastUser()} }},
		{Scenario: Scenario{"slow", "answers after 1.5 s"}, play: func(s *Server, _ *request, _ string) Reply {
			return Reply{Text: "This answer took its time.", Delay: s.cfg.Slow}
		}},
		{Scenario: Scenario{"hang", "never answers, not even with headers"}, play: func(*Server, *request, string) Reply { return Reply{Hang: true} }},
		{Scenario: Scenario{"error", "fails with HTTP 500"}, play: func(*Server, *request, string) Reply {
			return refusal(http.StatusInternalServerError, "server_error", "", "the offline scenario error always fails")
		}},
		{Scenario: Scenario{"two-tools", "two calls in one answer, then an answer from both"}, play: func(_ *Server, r *request, _ string) Reply {
			return r.rounds(1, func(int) []string { return []string{"echo first", "echo second"} })
		}},
		{
			Scenario: Scenario{"turns:N", "N answers with a call each, then text"},
			fits:     func(arg string) bool { _, ok := number(arg); return ok },
			play: func(_ *Server, r *request, arg string) Reply {
				n, _ := number(arg)
				return r.rounds(n, func(k int) []string { return []string{fmt.Sprintf("echo turn %d", k)} })
			},
		},
	}
}

func number(arg string) (int, bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil && n >= 0 && n <= 1_000_000
}

// auto asks for one command and then answers from what came back.
func (r *request) auto(line string) Reply {
	if len(r.results()) > 0 {
		return Reply{Text: answer(r.results())}
	}
	if !r.offers(tool) {
		return Reply{Text: "I would run a command now, but no tool " + tool + " is offered to me."}
	}
	return Reply{Text: "Let me look at this machine.", Calls: r.commands([]string{line})}
}

// rounds asks for commands n times, all those of a round at once, and then answers.
func (r *request) rounds(n int, lines func(round int) []string) Reply {
	results := r.results()
	round := len(results)/len(lines(1)) + 1
	if round > n {
		if n == 0 {
			return Reply{Text: "No tool was wanted."}
		}
		return Reply{Text: answer(results[max(0, len(results)-2):])}
	}
	return Reply{Text: fmt.Sprintf("Round %d of %d.", round, n), Calls: r.commands(lines(round))}
}

func (r *request) commands(lines []string) []Call {
	out := make([]Call, len(lines))
	for i, line := range lines {
		out[i] = Call{ID: fmt.Sprintf("call_%d", r.count("tool")+i+1), Name: tool, Arguments: command(line)}
	}
	return out
}

// command gives the arguments that make the tool run a line.
func command(line string) string {
	// Text and a number always encode.
	args, _ := json.Marshal(map[string]any{"command": line, "expected_runtime_milliseconds": 5000}, json.Deterministic(true))
	return string(args)
}
