package process_test

import (
	"slices"
	"testing"

	proc "simplex/process"
)

func TestSendInputThenClose(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(`"executable":"cat"`)
	text := b.ok("send_process", `{"session_id":"`+id+`","input":"one\n"}`)
	if got, order := fields(text), []string{"session_id", "state", "bytes_queued", "input_closed", "note"}; !slices.Equal(got, order) {
		t.Errorf("fields %q, want %q", got, order)
	}
	want(t, text, "state=running", "bytes_queued=4", "input_closed=false", "pid=", "signal=", "warning=")
	text = b.ok("send_process", `{"session_id":"`+id+`","input":"two","close_input":true}`)
	want(t, text, "bytes_queued=3", "input_closed=true")
	b.finished(id)
	contains(t, b.ok("read_process", `{"session_id":"`+id+`"}`), "stdout (7 bytes):\none\ntwo\n")
}

func TestSendSignals(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	for signal, code := range map[string]string{"term": "exit_code=143", "kill": "exit_code=137"} {
		id := b.start(`"executable":"sleep","arguments":["60"]`)
		text := b.ok("send_process", `{"session_id":"`+id+`","signal":"`+signal+`"}`)
		if got, order := fields(text), []string{"session_id", "state", "signal", "signalled", "hint"}; !slices.Equal(got, order) {
			t.Errorf("fields %q, want %q", got, order)
		}
		want(t, text, "signal="+signal, "signalled=true", "bytes_queued=", "input_closed=", "note=")
		contains(t, field(text, "hint"), "poll_process")
		want(t, b.finished(id), code)
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("sleep 60 & echo ready; wait"))
	// The background sleep holds the pipes: only its end completes the output.
	b.ok("send_process", `{"session_id":"`+id+`","signal":"term"}`)
	want(t, b.finished(id), "output_complete=true")
}

func TestSendToAnExitedChild(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("exit 0"))
	b.finished(id)
	for args, c := range map[string][]string{
		`"input":"x"`:                    {"the input was discarded"},
		`"close_input":true`:             {"no input left to close"},
		`"signal":"kill"`:                {"no signal was sent"},
		`"input":"x","signal":"term"`:    {"the input was discarded", "no signal was sent"},
		`"input":"x","close_input":true`: {"the input was discarded", "no input left to close"},
	} {
		text := b.ok("send_process", `{"session_id":"`+id+`",`+args+`}`)
		want(t, text, "state=exited", "hint=")
		contains(t, field(text, "warning"), append(c, "already exited")...)
		lacks(t, text, "[[signalled]]: true")
	}
}

func TestSendToNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	contains(t, b.fails("send_process", `{"session_id":"proc_x","signal":"term"}`, "invoke"), "no session proc_x")
}

func TestInputThatCannotArrive(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := field(b.ok("run_command", `{"command":"sleep 60","expected_runtime_milliseconds":0}`), "session_id")
	contains(t, b.fails("send_process", `{"session_id":"`+id+`","input":"x"}`, "invoke"), "has no input", "interactive: true")
	// Closing what is empty anyway is harmless.
	want(t, b.ok("send_process", `{"session_id":"`+id+`","close_input":true}`), "input_closed=true", "warning=")

	id = b.start(`"executable":"sleep","arguments":["60"]`)
	b.ok("send_process", `{"session_id":"`+id+`","close_input":true}`)
	contains(t, b.fails("send_process", `{"session_id":"`+id+`","input":"x","signal":"kill"}`, "invoke"), "is closed")
	want(t, b.ok("poll_process", `{"session_ids":["`+id+`"],"wait_timeout_milliseconds":0}`), "state=running")
}
