package process_test

import (
	"slices"
	"strings"
	"testing"

	proc "simplex/process"
)

func TestPollWaitsForAny(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	slow := b.start(`"executable":"sleep","arguments":["60"],"description":"slow"`)
	quick := b.start(sh("read x; echo done; exit 2"))
	// The order asked for does not matter, and neither does an id that is unknown.
	ask := `{"session_ids":["` + quick + `","proc_t_99","` + slow + `"],"wait_timeout_milliseconds":20000}`
	b.ok("send_process", `{"session_id":"`+quick+`","close_input":true}`)
	text := b.ok("poll_process", ask)
	head := []string{
		"timed_out", "waited_milliseconds", "finished_count", "session_count", "retained_session_count", "---",
		"session_id", "state", "description", "pid", "running_milliseconds", "---",
		"session_id", "state", "exit_code", "pid", "running_milliseconds", "output_complete",
	}
	if got := fields(text); !slices.Equal(got, head) {
		t.Errorf("fields %q\nwant   %q", got, head)
	}
	want(t, text, "timed_out=false", "finished_count=1", "session_count=2", "retained_session_count=2", "released=", "hint=")
	records := strings.Split(text, "\n---\n\n")
	if len(records) != 3 {
		t.Fatalf("%d records:\n%s", len(records), text)
	}
	want(t, records[1], "session_id="+slow, "state=running", "output_complete=")
	contains(t, records[1], "\n\nnew_stdout: (empty)\n\nnew_stderr: (empty)\n")
	want(t, records[2], "session_id="+quick, "state=exited", "exit_code=2", "output_complete=true")
	contains(t, records[2], "new_stdout (5 bytes):\ndone\n\nnew_stderr: (empty)\n")

	// Both cursors moved: the next poll has nothing new.
	lacks(t, b.ok("poll_process", ask), "done")
}

func TestPollDeadlineIsNormal(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	b.start(`"executable":"sleep","arguments":["60"]`)
	text := b.ok("poll_process", `{"wait_timeout_milliseconds":30}`)
	want(t, text, "timed_out=true", "finished_count=0", "session_count=1")
	if waited := field(text, "waited_milliseconds"); len(waited) < 2 {
		t.Errorf("waited %s ms", waited)
	}
}

func TestPollLooksOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	want(t, b.ok("poll_process", `{}`), "timed_out=true", "session_count=0", "retained_session_count=0")
	want(t, b.ok("poll_process", `{"session_ids":["proc_t_7"]}`), "timed_out=true", "session_count=0")
	id := b.start(sh("exit 0"))
	b.start(`"executable":"sleep","arguments":["60"]`)
	want(t, b.ok("poll_process", `{"session_ids":["proc_t_2"],"wait_timeout_milliseconds":0}`), "timed_out=true", "session_count=1")
	b.finished(id)
	want(t, b.ok("poll_process", `{"wait_timeout_milliseconds":0}`), "timed_out=false", "finished_count=1", "session_count=2")
}

func TestPollWithoutOutputMovesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("echo once"))
	lacks(t, b.finished(id), "once", "new_stdout")
	contains(t, b.ok("poll_process", `{}`), "new_stdout (5 bytes):\nonce\n")
}

func TestPollReleasesAfterReading(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	done := b.start(sh("echo last words"))
	running := b.start(`"executable":"sleep","arguments":["60"]`)
	b.finished(done)
	text := b.ok("poll_process", `{"release_exited":true}`)
	want(t, text, `released=["`+done+`"]`, "session_count=2", "retained_session_count=1")
	contains(t, text, "last words", running)
	want(t, b.ok("poll_process", `{"wait_timeout_milliseconds":0}`), "session_count=1")
	contains(t, b.fails("read_process", `{"session_id":"`+done+`"}`, "invoke"), "no session "+done, "poll_process")
}

func TestPollOfAnExitWithOpenOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("echo x; sleep 60 & exit 0"))
	session, err := b.store.Get(id)
	must(t, err)
	<-session.Exited()
	text := b.ok("poll_process", `{"wait_timeout_milliseconds":0,"include_output":false}`)
	want(t, text, "timed_out=true", "finished_count=0", "state=exited", "output_complete=false")
	contains(t, field(text, "hint"), id)

	// Release needs the exit only, and gives up the rest.
	text = b.ok("poll_process", `{"wait_timeout_milliseconds":0,"release_exited":true}`)
	want(t, text, `released=["`+id+`"]`, "retained_session_count=0", "hint=")
}
