package exec

import (
	"encoding/json/v2"

	"simplex/test/conformance/rig"
)

// command is a model's call of run_command that waits for the end.
func command(id, line string, tty bool) rig.Call {
	raw, err := json.Marshal(args{"command": line, "tty": tty, "expected_runtime_milliseconds": 10 * patience.Milliseconds()})
	if err != nil {
		panic(err) // a mistake of the test
	}
	return rig.Call{ID: id, Name: "run_command", Arguments: string(raw)}
}
