package offline

import (
	"fmt"
	"net/http"
	"slices"
)

// thought is the reasoning that the two scenarios about it look for.
const thought = "The machine has to be looked at first."

// callQuirks are about tool calls, and about what the next request must look like.
func callQuirks() []scenario {
	return []scenario{
		{Scenario: Scenario{"wants-reasoning", "reasons, then calls; refuses the next request unless the reasoning comes back"}, play: func(s *Server, r *request, _ string) Reply {
			return r.reasons(s, r.count("tool") == 0 || slices.Contains(r.thoughts(), r.sealed(thought)))
		}},
		{Scenario: Scenario{"refuses-reasoning", "the same, but refuses any request in which reasoning comes back"}, play: func(s *Server, r *request, _ string) Reply {
			return r.reasons(s, r.responses || len(r.thoughts()) == 0)
		}},
		{Scenario: Scenario{"silent", "says nothing at all to the first message, then answers"}, play: func(_ *Server, r *request, _ string) Reply {
			if r.count("user") < 2 {
				return Reply{}
			}
			return Reply{Text: "Now I speak."}
		}},
		{Scenario: Scenario{"strict", "auto, from a server that refuses any conversation it can"}, play: func(s *Server, r *request, _ string) Reply { return r.auto(s.cfg.Command) }},
		{Scenario: Scenario{"two-slow", "two calls, the first of which takes half a minute: cancel it and say more"}, play: func(_ *Server, r *request, _ string) Reply {
			if r.count("tool") > 0 {
				return Reply{Text: "Every call has its result."}
			}
			return Reply{Calls: r.commands([]string{"sleep 30", "echo second"})}
		}},
		{Scenario: Scenario{"bad-arguments", "a call whose arguments are not closed, then an answer"}, play: func(_ *Server, r *request, _ string) Reply {
			if results := r.results(); len(results) > 0 {
				return Reply{Text: answer(results)}
			}
			return Reply{Calls: []Call{{ID: fmt.Sprintf("call_%d", r.count("tool")+1), Name: tool, Arguments: `{"command": "git commit -m \"x}`}}}
		}},
		{
			Scenario: Scenario{"unknown-tool:N", "calls search_files, which is not offered, N times (1) and without a word, then answers"},
			fits:     func(arg string) bool { _, ok := number(or(arg, "1")); return ok },
			play: func(_ *Server, r *request, arg string) Reply {
				n, _ := number(or(arg, "1"))
				return r.unknown("search_files", n)
			},
		},
		{Scenario: Scenario{"wrong-case", "calls Run_Command, then answers"}, play: func(_ *Server, r *request, _ string) Reply { return r.unknown("Run_Command", 1) }},
		{Scenario: Scenario{"same-ids", "numbers calls anew in each round, then repeats an id, then gives none"}, play: func(_ *Server, r *request, _ string) Reply { return r.sameIDs() }},
	}
}

// reasons looks at the machine, with reasoning before each answer.
func (r *request) reasons(s *Server, accepted bool) Reply {
	if !accepted {
		return refusal(http.StatusBadRequest, "invalid_request_error", "", "reasoning_content is missing, or not wanted, in this request")
	}
	out := r.auto(s.cfg.Command)
	out.Reasoning = thought
	return out
}

// sealed is the form in which a thought comes back.
func (r *request) sealed(thought string) string {
	if r.responses {
		return seal(thought)
	}
	return thought
}

func (r *request) unknown(name string, n int) Reply {
	results := r.results()
	if len(results) >= n {
		return Reply{Text: answer(results)}
	}
	return Reply{Calls: []Call{{ID: fmt.Sprintf("call_%d", r.count("tool")+1), Name: name, Arguments: command("ls")}}}
}

func (r *request) sameIDs() Reply {
	rounds := [][]string{{"t:0", "t:1"}, {"t:0", "t:1"}, {"x", "x"}, {"", ""}}
	results := r.results()
	round := len(results) / 2
	if round >= len(rounds) {
		return Reply{Text: answer(results)}
	}
	var out Reply
	for i, id := range rounds[round] {
		out.Calls = append(out.Calls, Call{ID: id, Name: tool, Arguments: command(fmt.Sprintf("echo round %d call %d", round+1, i+1))})
	}
	return out
}
