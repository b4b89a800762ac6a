package process_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	proc "simplex/process"
	"simplex/state"
)

func TestCommandToItsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"echo out; echo err >&2; exit 3",`+long+`}`)
	order := []string{"session_id", "state", "exit_code", "description", "pid", "running_milliseconds", "finished", "output_complete", "released"}
	if got := fields(text); !slices.Equal(got, order) {
		t.Errorf("fields %q, want %q", got, order)
	}
	want(t, text, "state=exited", "exit_code=3", "description=echo out; echo err >&2; exit 3",
		"finished=true", "output_complete=true", "released=true", "hint=", "session_id=proc_t_1")
	contains(t, text, "\n\nstdout (4 bytes):\nout\n\nstderr (4 bytes):\nerr\n")
	if n := len(b.store.List()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestSpawnPassesEverythingOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	dir := t.TempDir()
	text := b.ok("spawn_process", `{"executable":"/bin/sh","arguments":["-c","pwd; echo \"$A|$1|$HOME\"; exit 0","sh","* 'x'"],
		"description":"label","working_directory":`+state.StringValue(dir).String()+`,"environment":["A=1","A=2"],"inherit_environment":false,`+long+`}`)
	want(t, text, "description=label", "working_directory="+dir, "exit_code=0", "released=true")
	contains(t, text, "bytes):\n"+dir+"\n2|* 'x'|\n", "stderr: (empty)")
	lacks(t, text, "[[executable]]", "[[arguments]]", "[[tty]]")
}

func TestSessionIsKeptOnRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("spawn_process", `{"auto_release":false,`+sh("echo hello")+`,`+long+`}`)
	want(t, text, "finished=true", "output_complete=true", "released=false")
	contains(t, field(text, "hint"), "read_process", "release: true")
	// The launch read moved no cursor.
	id := field(text, "session_id")
	contains(t, b.ok("read_process", `{"session_id":"`+id+`"}`), "stdout (6 bytes):\nhello\n")
}

func TestExpiryLeavesTheCommandRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"echo early; sleep 60","expected_runtime_milliseconds":20}`)
	want(t, text, "state=running", "exit_code=", "finished=false", "output_complete=false", "released=false")
	contains(t, field(text, "hint"), "20 ms", "not killed", "poll_process", "read_process", "send_process")
	lacks(t, text, "stdout")
	if n := len(b.store.List()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestWindowZeroWaitsForNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"sleep 60","expected_runtime_milliseconds":0}`)
	want(t, text, "state=running", "finished=false")
	contains(t, field(text, "hint"), "nothing was waited for", "poll_process", "read_process", "send_process")
	text = b.ok("spawn_process", `{"executable":"sleep","arguments":["60"],"expected_runtime_milliseconds":0}`)
	want(t, text, "finished=false", "released=false")
}

func TestDescendantHoldsTheOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"echo first; sleep 60 & exit 4","expected_runtime_milliseconds":300}`)
	want(t, text, "state=exited", "exit_code=4", "finished=true", "output_complete=false", "released=false")
	contains(t, field(text, "hint"), "not complete", "poll_process")
	contains(t, text, "stdout (6 bytes):\nfirst\n", "stderr: (empty)")
}

// BR-005: death by a signal is no success.
func TestSignalDeath(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	for command, c := range map[string][]string{
		"kill -9 $$":    {"exit_code=137", "signal=SIGKILL"},
		"kill -TERM $$": {"exit_code=143", "signal=SIGTERM"},
		"exit 3":        {"exit_code=3", "signal="},
	} {
		text := b.ok("run_command", `{"command":"`+command+`",`+long+`}`)
		want(t, text, append(c, "state=exited", "released=true")...)
		if at := slices.Index(fields(text), "signal"); at >= 0 && fields(text)[at-1] != "exit_code" {
			t.Errorf("signal does not follow exit_code: %q", fields(text))
		}
	}
}

// BR-004: a command that asks gets end-of-file at once.
func TestInputIsEmptyUnlessInteractive(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	contains(t, b.ok("run_command", `{"command":"read -r x; echo \"got:$x\"",`+long+`}`), "stdout (5 bytes):\ngot:\n")
	contains(t, b.ok("run_command", `{"command":"cat",`+long+`}`), "stdout: (empty)")

	text := b.ok("run_command", `{"command":"read -r x; echo \"got:$x\"","interactive":true,"expected_runtime_milliseconds":0}`)
	id := field(text, "session_id")
	b.ok("send_process", `{"session_id":"`+id+`","input":"yes\n"}`)
	b.finished(id)
	contains(t, b.ok("read_process", `{"session_id":"`+id+`"}`), "got:yes")
}

func TestGitCommitWithoutMessageFailsFast(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/git"); err != nil {
		t.Skip("no git here")
	}
	b := newBench(t, proc.Config{})
	dir := state.StringValue(t.TempDir()).String()
	text := b.ok("run_command", `{"command":"export HOME=$PWD EDITOR=cat; unset VISUAL GIT_EDITOR; git init -q . && echo x >f && git add f && git -c user.name=a -c user.email=a@b commit","working_directory":`+dir+`,`+long+`}`)
	want(t, text, "finished=true", "exit_code=1")
}

// BR-006: one shell, whatever the user's own is.
func TestOneShell(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd")
	must(t, os.WriteFile(odd, []byte("#!/bin/sh\necho wrong shell\nexit 9\n"), 0o700))
	t.Setenv("SHELL", odd)
	t.Setenv("PATH", filepath.Dir(odd)+":"+os.Getenv("PATH"))
	if proc.Shell() == "/bin/sh" {
		t.Skip("no bash here")
	}
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"[[ a == a ]] && echo yes; set -o pipefail; false | true; echo $?; echo $0",`+long+`}`)
	contains(t, text, "):\nyes\n1\n"+proc.Shell()+"\n")
}

// BR-007: a long line runs, a long argument is refused with the limit named.
func TestLongArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	line := "cat <<'END' | wc -c\n" + strings.Repeat("x", 139_999) + "\nEND\n"
	text := b.ok("run_command", `{"command":`+state.StringValue(line).String()+`,`+long+`}`)
	want(t, text, "exit_code=0")
	contains(t, text, "):\n140000\n")
	if len(text) > 4096 {
		t.Errorf("the line is echoed in full: %d bytes", len(text))
	}
	contains(t, field(text, "description"), "(140024 bytes in all)")

	big := strings.Repeat("x", 140_000)
	for _, args := range []string{`"arguments":["` + big + `"]`, `"environment":["A=` + big + `"]`} {
		contains(t, b.fails("spawn_process", `{"executable":"true",`+args+`}`, "invoke"), "131071 bytes")
	}
	b.ok("run_command", `{"command":"true"}`)
}

func TestLaunchFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	must(t, os.WriteFile(plain, []byte("text"), 0o600))
	for name, c := range map[string]struct {
		args string
		want []string
	}{
		"not found":         {`"executable":"no-such-program"`, []string{`resolve executable "no-such-program"`, "not found"}},
		"path not found":    {`"executable":"/no/such"`, []string{`resolve executable "/no/such"`, "not found"}},
		"not executable":    {`"executable":"` + plain + `"`, []string{`spawn "` + plain + `"`}},
		"no directory":      {`"executable":"true","working_directory":"/no/such"`, []string{`spawn "true"`, "/no/such"}},
		"file as directory": {`"executable":"true","working_directory":"` + plain + `"`, []string{`spawn "true"`, plain}},
		"nul in an entry":   {`"executable":"true","environment":["A=b\u0000"]`, []string{`environment "true"`}},
	} {
		message := b.fails("spawn_process", `{"description":"my label",`+c.args+`}`, "invoke")
		contains(t, message, append(c.want, `(description "my label")`)...)
		if n := len(b.store.List()); n != 0 {
			t.Errorf("%s: %d sessions", name, n)
		}
	}
	res := b.call("spawn_process", `{"executable":"true","working_directory":"`+plain+`"}`)
	contains(t, res.Output.Raw, "(not a directory; tool spawn_process; call ")
}

func TestTableFull(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{MaxSessions: 1})
	id := b.start(sh("exit 0"))
	message := b.fails("run_command", `{"command":"true"}`, "invoke")
	contains(t, message, "full", "poll_process", "release_exited: true", "read_process", "release: true", "send_process")
	b.finished(id)
	b.ok("poll_process", `{"release_exited":true}`)
	b.ok("run_command", `{"command":"true",`+long+`}`)
}

func TestAfterShutdownNothingStarts(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	b.start(`"executable":"sleep","arguments":["60"]`)
	must(t, b.registry.Shutdown(t.Context()))
	contains(t, b.fails("run_command", `{"command":"true"}`, "invoke"), "shut down")
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"test -t 0 && test -t 1 && echo \"$TERM\"; stty size; echo err >&2","tty":true,`+long+`}`)
	want(t, text, "tty=true", "exit_code=0", "finished=true", "released=true")
	contains(t, text, "output (", "dumb\r\n24 80\r\nerr\r\n")
	lacks(t, text, "stdout", "stderr")

	id := field(b.ok("spawn_process", `{"executable":"cat","tty":true,"expected_runtime_milliseconds":0}`), "session_id")
	text = b.ok("send_process", `{"session_id":"`+id+`","input":"half a line","close_input":true}`)
	want(t, text, "bytes_queued=11", "input_closed=false")
	contains(t, field(text, "note"), "request")
	b.ok("send_process", `{"session_id":"`+id+`","close_input":true}`)
	b.finished(id)
	text = b.ok("read_process", `{"session_id":"`+id+`","stream":"stderr"}`)
	want(t, text, "output_bytes_read=11", "stdout_bytes_read=", "stderr_bytes_read=")
	contains(t, text, "output (11 bytes):\nhalf a line")
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%2 == 0 {
				want(t, b.ok("run_command", `{"command":"echo x; sleep 0.01",`+long+`}`), "released=true")
				return
			}
			id := b.start(sh("cat"))
			wg.Go(func() { b.ok("poll_process", `{"wait_timeout_milliseconds":50}`) })
			wg.Go(func() { b.ok("read_process", `{"session_id":"`+id+`"}`) })
			b.ok("send_process", `{"session_id":"`+id+`","input":"hello","close_input":true}`)
			contains(t, b.finished(id), id)
		})
	}
	wg.Wait()
	text := b.ok("poll_process", `{"release_exited":true,"wait_timeout_milliseconds":0}`)
	want(t, text, "finished_count=4", "session_count=4", "retained_session_count=0")
}

// A short command must cost little beside starting its process.
func BenchmarkRunCommand(b *testing.B) {
	bench := newBench(b, proc.Config{})
	for b.Loop() {
		bench.ok("run_command", `{"command":":"}`)
	}
}

func BenchmarkStoreAlone(b *testing.B) {
	store := newStore(b)
	for b.Loop() {
		s, err := store.Spawn(b.Context(), proc.ShellSpec(":"))
		must(b, err)
		<-s.Complete()
		must(b, store.Release(s.ID()))
	}
}
