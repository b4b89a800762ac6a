package exec

import (
	"encoding/json/v2"
	"regexp"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

// The whole way: a model starts a program in a terminal, types into it, reads the answer
// and ends it, over four steps of a run of the real binary.
func TestWorkerHoldsADialogue(t *testing.T) {
	need(t, "bc")
	session := regexp.MustCompile(`proc_[0-9a-f-]{36}_1`)
	r := rig.New(t)
	r.Model.Answer = func(n int, body string) rig.Reply {
		id := session.FindString(body)
		ask := func(name string, a args) rig.Reply {
			raw, err := json.Marshal(a)
			if err != nil {
				panic(err) // a mistake of the test
			}
			return rig.Reply{Text: "Going on.", Calls: []rig.Call{{ID: "c", Name: name, Arguments: string(raw)}}}
		}
		switch n {
		case 1:
			return ask("spawn_process", args{"executable": "bc", "arguments": []string{"-q"}, "tty": true, "expected_runtime_milliseconds": 0})
		case 2:
			return ask("send_process", args{"session_id": id, "input": "2^70\nquit\n"})
		case 3:
			return ask("poll_process", args{"session_ids": []string{id}, "release_exited": true})
		default:
			return rig.Reply{Text: "It is done."}
		}
	}
	p := r.Online()
	r.Payload(rig.Approved("q", "compute"))
	r.Completes()
	for _, want := range []string{"1180591620717411303424", "[[exit_code]]: 0", "[[output_complete]]: true", "[[tty]]: true", "new_output ("} {
		if !strings.Contains(r.Model.Last(), want) {
			t.Errorf("%q did not reach the model:\n%.4000s", want, r.Model.Last())
		}
	}
	p.Stop()
}
