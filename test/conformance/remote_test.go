package conformance

import (
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

func TestRemoteTools(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"10", "without an endpoint no remote tool is offered", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			r.Completes()
			p.Stop()
			for _, tool := range r.State().Tools {
				if strings.Contains(tool.Name, "plan") || strings.Contains(tool.Name, "agent") {
					t.Errorf("%s is offered", tool.Name)
				}
			}
		}},
		{"10", "a bad endpoint ends the start", func(t *testing.T) {
			r := rig.New(t)
			r.Extra = `hub_remote_call: { endpoint: "http://127.0.0.1:9/rpc" }`
			p := r.Start()
			p.Exits(1)
			if !strings.Contains(p.Stderr.String(), "/hub_remote_call/endpoint") {
				t.Errorf("stderr does not name the field: %s", p.Stderr)
			}
		}},
	})
}
