package process_test

import (
	"strconv"
	"strings"
	"testing"

	proc "simplex/process"
	"simplex/process/capture"
	"simplex/state"
)

// most is what a result may weigh beside what was kept of the output.
const most = 64<<10 + 2*(8<<10) + 2048

// BR-008: no cut splits a character, and nothing is replaced that was whole.
func TestCutsKeepCharactersWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	for at := 65_532; at <= 65_537; at++ {
		text := b.ok("run_command", `{"command":"head -c `+strconv.Itoa(at)+` /dev/zero | tr '\\0' a; printf '漢字漢字é🙂'",`+long+`}`)
		want(t, text, "exit_code=0", "note=")
		lacks(t, text, "\uFFFD")
		contains(t, text, "stdout (truncated, first ", "字é🙂")
		_, body, _ := strings.Cut(text, "\n\nstdout ") // the description has the characters, too
		if joined := strings.Count(body, "漢") + strings.Count(body, "字"); joined != 4 {
			t.Errorf("at %d: %d of 4 characters in %q", at, joined, text[len(text)-300:])
		}
		if len(text) > most {
			t.Errorf("at %d: %d bytes", at, len(text))
		}
	}
}

// BR-009: the error at the end of a long output is seen, and the gap is counted.
func TestLongLinesKeepTheirEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"for i in $(seq 40); do head -c 4999 /dev/zero | tr '\\0' x; echo; done; echo 'FATAL: link step failed'; exit 1",`+long+`}`)
	want(t, text, "exit_code=1", "released=true")
	contains(t, text, "stdout (truncated, first 65536 bytes):\nxxx", "stdout_tail (last 8192 bytes):", "FATAL: link step failed\n")
	left := 40*5000 + len("FATAL: link step failed\n") - 65536 - 8192
	contains(t, field(text, "note"), strconv.Itoa(left)+" bytes of stdout were left out")
	if len(text) > most {
		t.Errorf("%d bytes", len(text))
	}
}

// BR-010: one huge line does not hide the short ones behind it.
func TestHugeLineLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	text := b.ok("run_command", `{"command":"printf a.js:1:; head -c 120000 /dev/zero | tr '\\0' x; printf '\\nb.js:7:hit\\nc.js:9:hit\\n'",`+long+`}`)
	contains(t, text, "a.js:1:xxx", "x\nb.js:7:hit\nc.js:9:hit\n", "were left out")
	if len(text) > most {
		t.Errorf("%d bytes", len(text))
	}
}

// BR-011: bytes that no later request could carry are replaced.
func TestBinaryOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	res := b.call("run_command", `{"command":"printf 'a\\000b\\377\\376c\\n'",`+long+`}`)
	contains(t, res.Output.Raw, "):\na\uFFFDb\uFFFD\uFFFDc\n")
	raw, err := state.ValueOf(res.Output.Raw)
	must(t, err)
	lacks(t, raw.String(), `\u0000`)
	contains(t, b.ok("run_command", `{"command":"printf '\\033[31mred\\tok\\r\\n'",`+long+`}`), "\uFFFD[31mred\tok\r\n")
}

// BR-012: a rewritten progress line stays small and shows how it ended.
func TestProgressBars(t *testing.T) {
	t.Parallel()
	b := newBench(t, proc.Config{})
	for _, format := range []string{`\\r%d%% of 40000`, `\\033[2K\\033[32m\\r%d%%\\033[0m`} {
		text := b.ok("run_command", `{"command":"for i in $(seq 40000); do printf '`+format+`' $i; done; echo; echo ok",`+long+`}`)
		want(t, text, "exit_code=0")
		if !strings.HasSuffix(text, "\nok\n\nstderr: (empty)\n") {
			t.Errorf("ends with %q", text[len(text)-80:])
		}
		// A control character weighs three bytes instead of one.
		if len(text) > 3*most {
			t.Errorf("%d bytes", len(text))
		}
	}
}

// The budget is shared, only a stream that loses bytes is marked, and reading gives
// nothing back.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	budget, tail := uint64(10), uint64(4)
	b := newBench(t, proc.Config{MaxOutputBytes: &budget, TailBytes: &tail})
	id := b.start(sh("printf 123; read x; printf abcdefgHIJKLMN >&2; read x; printf 456 >&2"))
	read := `{"session_id":"` + id + `"}`
	session, err := b.store.Get(id)
	must(t, err)
	eventually(t, func() bool { return len(session.Read(capture.Stdout, true)[0].Data) == 3 })
	b.ok("send_process", `{"session_id":"`+id+`","input":"\n"}`)
	eventually(t, func() bool { return string(session.Read(capture.Stderr, true)[0].Tail) == "KLMN" })
	contains(t, b.ok("read_process", read), "stdout (3 bytes):\n123\n\nstderr (truncated, first 7 bytes):\nabcdefg\n\nstderr_tail (last 4 bytes):\nKLMN\n", "3 bytes of stderr were left out")
	b.ok("send_process", `{"session_id":"`+id+`","input":"\n"}`)
	b.finished(id)
	text := b.ok("read_process", read)
	contains(t, text, "stdout: (empty)\n\nstderr: (empty, truncated)\n\nstderr_tail (last 3 bytes):\n456\n")
	want(t, text, "stdout_bytes_read=3", "stderr_bytes_read=7", "note=")
	contains(t, b.ok("read_process", `{"session_id":"`+id+`","full":true}`),
		"stdout (3 bytes):", "stderr (truncated, first 7 bytes):\nabcdefg\n\nstderr_tail (last 4 bytes):\nN456\n")
}
