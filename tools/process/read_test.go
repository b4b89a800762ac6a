package process_test

import (
	"slices"
	"testing"

	proc "simplex/process"
	"simplex/process/capture"
)

func TestReadDeltaAndFull(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("echo out; echo error >&2"))
	b.finished(id)

	text := b.ok("read_process", `{"session_id":"`+id+`","stream":"stdout"}`)
	order := []string{"session_id", "state", "exit_code", "pid", "running_milliseconds", "stream", "full", "stdout_bytes_read"}
	if got := fields(text); !slices.Equal(got, order) {
		t.Errorf("fields %q, want %q", got, order)
	}
	want(t, text, "stream=stdout", "full=false", "stdout_bytes_read=4", "stderr_bytes_read=", "released=")
	contains(t, text, "\n\nstdout (4 bytes):\nout\n")
	lacks(t, text, "stderr")

	// Only the selected cursor moved.
	text = b.ok("read_process", `{"session_id":"`+id+`"}`)
	want(t, text, "stream=both", "stdout_bytes_read=4", "stderr_bytes_read=6")
	contains(t, text, "stdout: (empty)", "stderr (6 bytes):\nerror\n")

	// A full read shows everything and moves nothing.
	text = b.ok("read_process", `{"session_id":"`+id+`","full":true}`)
	want(t, text, "full=true", "stdout_bytes_read=4", "stderr_bytes_read=6")
	contains(t, text, "stdout (4 bytes):\nout\n", "stderr (6 bytes):\nerror\n")
	contains(t, b.ok("read_process", `{"session_id":"`+id+`"}`), "stdout: (empty)", "stderr: (empty)")
}

func TestFullReadLeavesTheCursor(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("echo out"))
	b.finished(id)
	want(t, b.ok("read_process", `{"session_id":"`+id+`","full":true}`), "stdout_bytes_read=0")
	contains(t, b.ok("read_process", `{"session_id":"`+id+`"}`), "stdout (4 bytes):\nout\n")
}

func TestReadReleases(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh("read x; echo bye"))
	want(t, b.ok("read_process", `{"session_id":"`+id+`","release":true}`), "state=running", "released=false")
	b.ok("send_process", `{"session_id":"`+id+`","close_input":true}`)
	b.finished(id)
	text := b.ok("read_process", `{"session_id":"`+id+`","release":true}`)
	want(t, text, "state=exited", "released=true")
	contains(t, text, "bye")
	b.fails("read_process", `{"session_id":"`+id+`"}`, "invoke")
}

func TestDeltaHoldsBackHalfACharacter(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	id := b.start(sh(`printf 'a\303'; read x; printf '\251b\303'`))
	read := `{"session_id":"` + id + `","stream":"stdout"}`
	session, err := b.store.Get(id)
	must(t, err)
	eventually(t, func() bool { return len(session.Read(capture.Stdout, true)[0].Data) > 0 })
	text := b.ok("read_process", read)
	want(t, text, "stdout_bytes_read=1")
	contains(t, text, "stdout (1 bytes):\na\n")
	b.ok("send_process", `{"session_id":"`+id+`","close_input":true}`)
	b.finished(id)
	// The rest has come; what never became whole is shown as such at the end.
	text = b.ok("read_process", read)
	want(t, text, "stdout_bytes_read=5")
	contains(t, text, "):\néb\uFFFD\n")
}

// What a call costs beside the process it is about.
func BenchmarkReadProcess(b *testing.B) {
	bench := newBench(b, proc.Config{})
	id := bench.start(sh("echo hello"))
	bench.finished(id)
	for b.Loop() {
		bench.ok("read_process", `{"session_id":"`+id+`","full":true}`)
	}
}
