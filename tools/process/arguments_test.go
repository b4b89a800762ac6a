package process_test

import (
	"context"
	"testing"

	proc "simplex/process"
	"simplex/state"
)

// TestArguments goes over every clause of the declarations, with one call on each
// side of the line: what is settled, or what the refusal says.
func TestArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	const (
		spawn = `"arguments":[],"auto_release":true,"description":"","environment":[],"executable":"x","expected_runtime_milliseconds":5000,"inherit_environment":true,"tty":false`
		run   = `{"command":"x","expected_runtime_milliseconds":3000,"interactive":false,"tty":false}`
		poll  = `{"include_output":true,"release_exited":false,"session_ids":[],"wait_timeout_milliseconds":30000}`
		read  = `{"full":false,"release":false,"session_id":"x","stream":"both"}`
	)
	for _, c := range []struct{ tool, args, want string }{
		{"spawn_process", `{"executable":"x"}`, `{` + spawn + `}`},
		{"spawn_process", `{}`, `argument "executable" is required`},
		{"spawn_process", `{"executable":""}`, `argument "executable" must not be empty`},
		{"spawn_process", `{"executable":["x"]}`, `argument "executable" must be a string, not a list`},
		{"spawn_process", `{"executable":"x","arguments":"-l"}`, `argument "arguments" must be a list of strings, not a string`},
		{"spawn_process", `{"executable":"x","arguments":["a",1]}`, `argument "arguments" must be a list of strings, but element 1 is a number`},
		{"spawn_process", `{"executable":"x","description":null}`, `{` + spawn + `}`},
		{"spawn_process", `{"executable":"x","description":1}`, `argument "description" must be a string, not a number`},
		{"spawn_process", `{"executable":"x","working_directory":"/"}`, `{` + spawn + `,"working_directory":"/"}`},
		{"spawn_process", `{"executable":"x","working_directory":""}`, `argument "working_directory" must not be empty; leave it out instead`},
		{"spawn_process", `{"executable":"x","environment":["A"]}`, `argument "environment" must hold KEY=VALUE entries, but element 0 is none`},
		{"spawn_process", `{"executable":"x","environment":["A=","=b"]}`, `argument "environment" must hold KEY=VALUE entries, but element 1 is none`},
		{"spawn_process", `{"executable":"x","inherit_environment":0}`, `argument "inherit_environment" must be true or false, not a number`},
		{"spawn_process", `{"executable":"x","auto_release":"no"}`, `argument "auto_release" must be true or false, not a string`},
		{"spawn_process", `{"executable":"x","expected_runtime_milliseconds":-1}`, `argument "expected_runtime_milliseconds" must be a whole number of 0 or more, not -1`},
		{"spawn_process", `{"executable":"x","expected_runtime_milliseconds":1.5}`, `argument "expected_runtime_milliseconds" must be a whole number of 0 or more, not 1.5`},
		{"spawn_process", `{"executable":"x","tty":1}`, `argument "tty" must be true or false, not a number`},
		{"spawn_process", `{"executable":"x","interactive":true}`, `unknown argument "interactive"; the valid ones are: arguments, auto_release, description, environment, executable, expected_runtime_milliseconds, inherit_environment, tty, working_directory`},

		{"run_command", `{"command":"x"}`, run},
		{"run_command", `{}`, `argument "command" is required`},
		{"run_command", `{"command":""}`, `argument "command" must not be empty`},
		{"run_command", `{"command":"x","working_directory":""}`, `argument "working_directory" must not be empty; leave it out instead`},
		{"run_command", `{"command":"x","expected_runtime_milliseconds":0}`, `{"command":"x","expected_runtime_milliseconds":0,"interactive":false,"tty":false}`},
		{"run_command", `{"command":"x","expected_runtime_milliseconds":-1}`, `argument "expected_runtime_milliseconds" must be a whole number of 0 or more, not -1`},
		{"run_command", `{"command":"x","expected_runtime_milliseconds":"3000"}`, `argument "expected_runtime_milliseconds" must be an integer, not a string`},
		{"run_command", `{"command":"x","interactive":"yes"}`, `argument "interactive" must be true or false, not a string`},
		{"run_command", `{"command":"x","tty":true}`, `{"command":"x","expected_runtime_milliseconds":3000,"interactive":true,"tty":true}`},
		{"run_command", `{"command":"x","environment":null}`, "argument \"environment\" is no longer taken: set variables in the command line (`LANG=C cmd`, `export LANG=C; cmd`) or use spawn_process"},
		{"run_command", `{"command":"x","inherit_environment":true}`, "argument \"inherit_environment\" is no longer taken: clear the environment in the command line (`env -i cmd`) or use spawn_process"},
		{"run_command", `{"command":"x","auto_release":true}`, `argument "auto_release" is no longer taken: a finished command is always released; use spawn_process to keep its session`},
		{"run_command", `{"command":"x","timeout":5}`, `unknown argument "timeout"; the valid ones are: command, expected_runtime_milliseconds, interactive, tty, working_directory`},

		{"poll_process", ``, poll},
		{"poll_process", `{"session_ids":null}`, poll},
		{"poll_process", `{"session_ids":"x"}`, `argument "session_ids" must be a list of strings, not a string`},
		{"poll_process", `{"session_ids":[7]}`, `argument "session_ids" must be a list of strings, but element 0 is a number`},
		{"poll_process", `{"wait_timeout_milliseconds":-1}`, `argument "wait_timeout_milliseconds" must be a whole number of 0 or more, not -1`},
		{"poll_process", `{"include_output":"x"}`, `argument "include_output" must be true or false, not a string`},
		{"poll_process", `{"release_exited":1}`, `argument "release_exited" must be true or false, not a number`},
		{"poll_process", `{"pid":1}`, `unknown argument "pid"; the valid ones are: include_output, release_exited, session_ids, wait_timeout_milliseconds`},

		{"read_process", `{"session_id":"x"}`, read},
		{"read_process", `{}`, `argument "session_id" is required`},
		{"read_process", `{"session_id":""}`, `argument "session_id" must not be empty`},
		{"read_process", `{"session_id":"x","stream":"stderr"}`, `{"full":false,"release":false,"session_id":"x","stream":"stderr"}`},
		{"read_process", `{"session_id":"x","stream":"all"}`, `argument "stream" must be one of ["stdout" "stderr" "both"]`},
		{"read_process", `{"session_id":"x","full":1}`, `argument "full" must be true or false, not a number`},
		{"read_process", `{"session_id":"x","release":1}`, `argument "release" must be true or false, not a number`},

		{"send_process", `{"session_id":"x","input":"a"}`, `{"close_input":false,"input":"a","session_id":"x","signal":""}`},
		{"send_process", `{"session_id":"x","close_input":true}`, `{"close_input":true,"input":"","session_id":"x","signal":""}`},
		{"send_process", `{"session_id":"x","signal":"term"}`, `{"close_input":false,"input":"","session_id":"x","signal":"term"}`},
		{"send_process", `{"session_id":"x","signal":"kill"}`, `{"close_input":false,"input":"","session_id":"x","signal":"kill"}`},
		{"send_process", `{"session_id":"x","signal":"SIGHUP"}`, `argument "signal" must be one of ["" "term" "kill"]`},
		{"send_process", `{"session_id":"x"}`, `nothing to do: give input, close_input: true, or signal (term or kill)`},
		{"send_process", `{"session_id":"x","input":"","close_input":false,"signal":""}`, `nothing to do: give input, close_input: true, or signal (term or kill)`},
		{"send_process", `{"input":"a"}`, `argument "session_id" is required`},
		{"send_process", `{"session_id":"x","input":1}`, `argument "input" must be a string, not a number`},
		{"send_process", `{"session_id":"x","close_input":"true"}`, `argument "close_input" must be true or false, not a string`},
	} {
		call := state.Call{ID: "c", Name: c.tool, Arguments: state.EmptyObject().Value}
		if c.args != "" {
			v, err := state.ParseValue([]byte(c.args))
			must(t, err)
			call.Arguments = v
		}
		settled, run := b.registry.Prepare(call, nil) // nobody approves: nothing is run
		got := settled.Arguments.String()
		if settled.Security == "" || settled == call {
			res := run(context.Background())
			e, _ := res.Extras.Get("error")
			o, err := e.Object()
			must(t, err)
			m, _ := o.Get("message")
			got, _ = m.Text()
		}
		if got != c.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	for tool, c := range map[string]struct {
		args     string
		class    state.InvokeType
		security state.InvokeSecurity
	}{
		"spawn_process": {`{"executable":"x"}`, state.SerialWrite, state.RequireConfirm},
		"run_command":   {`{"command":"x"}`, state.SerialWrite, state.RequireConfirm},
		"poll_process":  {`{}`, state.ReadOnly, state.Trusted},
		"read_process":  {`{"session_id":"x"}`, state.ReadOnly, state.Trusted},
		"send_process":  {`{"session_id":"x","signal":"term"}`, state.SerialWrite, state.RequireConfirm},
	} {
		v, err := state.ParseValue([]byte(c.args))
		must(t, err)
		settled, _ := b.registry.Prepare(state.Call{Name: tool, Arguments: v}, nil)
		if settled.Type != c.class || settled.Security != c.security {
			t.Errorf("%s: %s, %s", tool, settled.Type, settled.Security)
		}
	}
}

func TestDeniedCommandIsNotRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	v, err := state.ParseValue([]byte(`{"command":"sleep 60","expected_runtime_milliseconds":0}`))
	must(t, err)
	_, run := b.registry.Prepare(state.Call{Name: "run_command", Arguments: v}, func(context.Context, state.Call) (bool, string) {
		return false, "not now"
	})
	contains(t, run(t.Context()).Output.Raw, "Failed the security check: security check denied: not now")
	if n := len(b.store.List()); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
