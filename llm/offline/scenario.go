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

// Scenarios lists the names a scenario can have. turns takes a number behind a colon.
func Scenarios() []string {
	return []string{"auto", "text", "echo", "slow", "error", "two-tools", "turns:N", "hang"}
}

// CheckScenario refuses a name that is no scenario; "" is auto.
func CheckScenario(name string) error {
	if name == "" || known(name) {
		return nil
	}
	return fmt.Errorf("unknown offline scenario %q; there are: %s", name, strings.Join(Scenarios(), ", "))
}

func known(name string) bool {
	if word, number, isTurns := strings.Cut(name, ":"); isTurns {
		_, ok := turns(number)
		return word == "turns" && ok
	}
	switch name {
	case "auto", "text", "echo", "slow", "error", "two-tools", "hang":
		return true
	}
	return false
}

func turns(number string) (int, bool) {
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 0 && n <= 1_000_000
}

// pick chooses the scenario: the request's own `scenario`, a model of that name (also
// with mock- or offline- in front), or the server's.
func (s *Server) pick(r *request) string {
	model := strings.TrimPrefix(strings.TrimPrefix(r.Model, "mock-"), "offline-")
	for _, name := range []string{r.Scenario, model, s.cfg.Scenario} {
		if name != "" && known(name) {
			return name
		}
	}
	return "auto"
}

// play makes a scenario's answer.
func (s *Server) play(name string, r *request) Reply {
	switch name {
	case "text":
		return Reply{Text: "This is the offline model. It has no network and no key, and it always says this."}
	case "echo":
		return Reply{Text: "echo: " + r.lastUser()}
	case "slow":
		return Reply{Text: "This answer took its time.", Delay: s.cfg.Slow}
	case "error":
		return Reply{
			Status: http.StatusInternalServerError,
			Header: map[string]string{"Content-Type": "application/json"},
			Body:   `{"error":{"message":"the offline scenario error always fails","type":"server_error"}}`,
		}
	case "hang":
		return Reply{Hang: true}
	case "two-tools":
		return r.rounds(1, func(int) []string { return []string{"echo first", "echo second"} })
	}
	if _, number, isTurns := strings.Cut(name, ":"); isTurns {
		n, _ := turns(number)
		return r.rounds(n, func(k int) []string { return []string{fmt.Sprintf("echo turn %d", k)} })
	}
	return r.auto(s.cfg.Command)
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
		// Text and a number always encode.
		args, _ := json.Marshal(map[string]any{"command": line, "expected_runtime_milliseconds": 5000}, json.Deterministic(true))
		out[i] = Call{ID: fmt.Sprintf("call_%d", r.calls()+i+1), Name: tool, Arguments: string(args)}
	}
	return out
}

// answer speaks about tool results: it quotes what a command printed, and says so when
// it did not run.
func answer(results []string) string {
	var parts []string
	for _, result := range results {
		parts = append(parts, about(result))
	}
	return strings.Join(parts, "\n\n")
}

func about(result string) string {
	first, _, _ := strings.Cut(result, "\n")
	if strings.HasPrefix(first, "Failed ") {
		return "The command was not carried out, so I cannot answer from it. The tool said:\n\n" + quote(result)
	}
	text, found := output(result)
	if !found {
		return "The tool said:\n\n" + quote(result)
	}
	lead := "The command printed:"
	if code, bad := exitCode(result); bad {
		lead = "The command ended with exit code " + code + " and printed:"
	}
	return lead + "\n\n" + quote(text)
}

func exitCode(result string) (string, bool) {
	_, rest, found := strings.Cut("\n"+result, "\nexit_code: ")
	code, _, _ := strings.Cut(rest, "\n")
	return code, found && code != "0"
}

func quote(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return "> (nothing)"
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}
