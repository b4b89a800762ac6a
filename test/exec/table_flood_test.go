package exec

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// What a result of a flooding command may weigh: the budget, a tail and some fields.
const mostText = 64<<10 + 8<<10 + 2<<10

// floodRows print more than anybody keeps.
var floodRows = []row{
	{name: "a flood", play: func(t *testing.T, d *desk) {
		n := sized(64<<20, 1<<30)
		a := d.run(fmt.Sprintf("printf head; head -c %d /dev/zero | tr '\\0' 'x'; printf 'tail\\n'; exit 5", n))
		a.want("exit_code", "5", "output_complete", "true", "released", "true")
		// A terminal turns the last LF into CR LF.
		left := n + len("headtail\n") - 64<<10 - 8<<10
		if d.tty {
			left++
		}
		a.contains(fmt.Sprintf("%d bytes of %s were left out", left, map[bool]string{false: "stdout", true: "output"}[d.tty]))
		edges(a, "headxxx", "xxxtail\n")
	}},
	{name: "a flood of lines", play: func(t *testing.T, d *desk) {
		a := d.run(fmt.Sprintf("yes line | head -c %d; echo; echo end", sized(16<<20, 128<<20)))
		edges(a, "line\nline\n", "\nend\n")
	}},
	{name: "a flood of errors beside a quiet output", only: "pipe", play: func(t *testing.T, d *desk) {
		a := d.run(fmt.Sprintf("echo quiet; head -c %d /dev/zero | tr '\\0' e >&2; echo 'FATAL: the end' >&2; exit 1", sized(16<<20, 1<<30)))
		if got := a.block("stdout"); got != "quiet\n" {
			t.Errorf("stdout %q", got)
		}
		if tail := a.block("stderr_tail"); !strings.HasSuffix(tail, "eeeFATAL: the end\n") || len(tail) != 8<<10 {
			t.Errorf("the tail of stderr has %d bytes and ends with %q", len(tail), tail[max(0, len(tail)-40):])
		}
	}},
	{name: "one long line", play: func(t *testing.T, d *desk) { // BR-010
		a := d.run(fmt.Sprintf("printf a.js:1:; head -c %d /dev/zero | tr '\\0' x; printf '\\nb.js:7:hit\\nc.js:9:hit\\n'", sized(8_000_000, 100_000_000)))
		edges(a, "a.js:1:xxx", "xxx\nb.js:7:hit\nc.js:9:hit\n")
	}},
	{name: "long lines and a last word", play: func(t *testing.T, d *desk) { // BR-009
		a := d.run("for i in $(seq 40); do head -c 4999 /dev/zero | tr '\\0' x; echo; done; echo 'FATAL: link step failed'; exit 1")
		a.want("exit_code", "1")
		edges(a, "xxx", "x\nFATAL: link step failed\n")
	}},
	{name: "characters at the cut", play: func(t *testing.T, d *desk) { // BR-008
		for at := 65_530; at <= 65_537; at++ {
			a := d.run("head -c " + strconv.Itoa(at) + " /dev/zero | tr '\\0' a; printf '漢字漢字é🙂'")
			if got := a.output() + a.tail(); strings.Trim(got, "a") != "漢字漢字é🙂" || len(a.text) > mostText {
				t.Errorf("at %d: %d bytes, ends with %q", at, len(a.text), got[len(got)-24:])
			}
		}
	}},
	{name: "a flood nobody waits for", play: func(t *testing.T, d *desk) {
		id := d.start("yes")
		for range 5 {
			a := d.ok("poll_process", args{"session_ids": []string{id}, "wait_timeout_milliseconds": 10})
			if len(a.text) > mostText {
				t.Fatalf("a delta of %d bytes", len(a.text))
			}
		}
		d.ok("send_process", args{"session_id": id, "signal": "term"})
		d.finished(id).want("signal", "SIGTERM")
	}},
}

// edges checks that the beginning and the end of a flood are shown, and no more than that.
func edges(a answer, first, last string) {
	a.t.Helper()
	out, tail := a.output(), a.tail()
	if !strings.HasPrefix(out, first) || !strings.HasSuffix(tail, last) {
		a.t.Errorf("begins with %.20q, ends with %q", out, tail[max(0, len(tail)-40):])
	}
	if len(a.text) > mostText {
		a.t.Errorf("%d bytes of text", len(a.text))
	}
}
