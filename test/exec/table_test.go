package exec

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"simplex/process"
	"simplex/process/kin"
)

// row is one thing that commands do to their host. It is played twice: over pipes, and
// in a terminal.
type row struct {
	name  string
	only  string // "pipe" or "tty"; "" both
	alone bool   // with a reaper, which is the business of the whole test process
	table int    // sessions the desk has room for; 0: the default
	play  func(t *testing.T, d *desk)
}

func TestTable(t *testing.T) {
	rows := append(append(append([]row(nil), plainRows...), processRows...), floodRows...)
	// Those that must be alone come first; the others pause until this function returns.
	for _, alone := range []bool{true, false} {
		for _, r := range rows {
			for _, where := range []string{"pipe", "tty"} {
				if r.alone != alone || r.only != "" && r.only != where {
					continue
				}
				t.Run(r.name+"/"+where, func(t *testing.T) {
					cfg := process.Config{MaxSessions: r.table}
					if r.alone {
						cfg.Reaper = adopt(t)
					} else {
						t.Parallel()
					}
					r.play(t, newDesk(t, where == "tty", cfg))
				})
			}
		}
	}
}

// adopt makes the test process the parent of orphans, for the time of one test.
func adopt(t *testing.T) *kin.Reaper {
	t.Helper()
	reaper, err := kin.EnableSubreaper(nil)
	must(t, err)
	t.Cleanup(func() { must(t, reaper.Close()) })
	return reaper
}

var plainRows = []row{
	{name: "echo", play: func(_ *testing.T, d *desk) {
		a := d.run("echo out; echo err >&2")
		a.want("state", "exited", "exit_code", "0", "finished", "true", "output_complete", "true", "released", "true")
		a.whole()
		if want := map[bool]string{false: "out\n", true: "out\nerr\n"}[d.tty]; a.output() != want {
			d.t.Errorf("got %q, want %q", a.output(), want)
		}
		if !d.tty && a.block("stderr") != "err\n" {
			d.t.Errorf("stderr is %q", a.block("stderr"))
		}
	}},
	{name: "streaming", play: func(_ *testing.T, d *desk) {
		id := d.start("echo one; read x; echo two; read x; printf three")
		for _, word := range []string{"one", "two"} { // each is there while the program waits
			d.until(id, word)
			d.send(id, "\n")
		}
		d.finished(id)
		if got := d.read(id).output(); got != "one\ntwo\nthree" {
			d.t.Errorf("got %q", got)
		}
	}},
	{name: "exit codes", play: func(_ *testing.T, d *desk) {
		for _, code := range []int{0, 1, 3, 127, 137, 255} {
			d.run("exit "+strconv.Itoa(code)).want("exit_code", strconv.Itoa(code), "signal", "")
		}
		d.run("no-such-program-anywhere").want("exit_code", "127")
	}},
	{name: "signals", play: func(_ *testing.T, d *desk) { // BR-005
		for name, number := range map[string]int{"HUP": 1, "INT": 2, "ABRT": 6, "KILL": 9, "SEGV": 11, "TERM": 15} {
			d.run("ulimit -c 0; kill -"+name+" $$").want("exit_code", strconv.Itoa(128+number), "signal", "SIG"+name)
		}
		for signal, code := range map[string]string{"term": "143", "kill": "137"} {
			id := d.start("echo up; exec sleep 1000")
			d.until(id, "up")
			d.ok("send_process", args{"session_id": id, "signal": signal}).want("signalled", "true")
			d.finished(id).want("exit_code", code, "signal", "SIG"+strings.ToUpper(signal))
			d.ok("send_process", args{"session_id": id, "signal": signal}).want("signalled", "false", "state", "exited")
		}
	}},
	{name: "standard input", play: func(_ *testing.T, d *desk) {
		id := d.start(`while read -r line; do echo "<$line>"; [ "$line" = stop ] && exit 7; done`)
		for _, line := range []string{"plain", `back\slash "quoted" $HOME`, "漢字 🙂", "stop"} {
			d.send(id, line+"\n")
		}
		d.finished(id).want("exit_code", "7")
		if got, want := d.read(id).output(), "<plain>\n<back\\slash \"quoted\" $HOME>\n<漢字 🙂>\n<stop>\n"; got != want {
			d.t.Errorf("got %q, want %q", got, want)
		}
	}},
	{name: "no input", only: "pipe", play: func(_ *testing.T, d *desk) { // BR-004
		if got := d.run(`read -r x; echo "got:$x"; cat`).output(); got != "got:\n" {
			d.t.Errorf("got %q", got)
		}
	}},
	{name: "end of input", play: func(_ *testing.T, d *desk) {
		id := d.start("cat; echo over")
		d.send(id, "line\nhalf")
		a := d.ok("send_process", args{"session_id": id, "close_input": true})
		a.want("input_closed", strconv.FormatBool(!d.tty)) // a terminal is only asked
		d.finished(id).want("exit_code", "0")
		if got := d.read(id).output(); got != "line\nhalfover\n" {
			d.t.Errorf("got %q", got)
		}
	}},
	{name: "NUL and broken UTF-8", play: func(_ *testing.T, d *desk) { // BR-011
		a := d.run(`printf 'a\000b\377\376c\033[1mé\n'; printf '\342\202'; printf '\254'; printf '\360\237'`)
		if got, want := a.output(), "a\uFFFDb\uFFFD\uFFFDc\uFFFD[1mé\n€\uFFFD\uFFFD"; got != want {
			d.t.Errorf("got %q, want %q", got, want)
		}
	}},
	{name: "a character in two deltas", play: func(_ *testing.T, d *desk) {
		id := d.start(`printf 'a\342\202'; read x; printf '\254b'`)
		if got := d.until(id, "a"); got != "a" {
			d.t.Errorf("first %q", got)
		}
		d.send(id, "\n")
		d.finished(id)
		if got := d.ok("read_process", args{"session_id": id}); got.output() != "€b" {
			d.t.Errorf("then %q", got.text)
		}
	}},
	{name: "progress bars", play: func(_ *testing.T, d *desk) { // BR-012
		for _, format := range []string{`\r%d%% of 40000`, `\033[2K\033[32m\r%d%%\033[0m`} {
			a := d.run(`for i in $(seq 40000); do printf '` + format + `' $i; done; echo; echo ok`)
			a.want("exit_code", "0")
			if !strings.HasSuffix(a.tail(), "\nok\n") {
				d.t.Errorf("ends with %q", a.text[max(0, len(a.text)-80):])
			}
			if len(a.text) > 3*(64+8+1)<<10 { // a control character weighs three bytes
				d.t.Errorf("%d bytes", len(a.text))
			}
		}
	}},
	{name: "full table", table: 3, play: func(_ *testing.T, d *desk) {
		var ids []string
		for range 3 {
			ids = append(ids, d.start("exec sleep 1000"))
		}
		refused := d.call("run_command", args{"command": "true", "tty": d.tty})
		if !refused.failed {
			d.t.Fatalf("a launch beyond the limit: %s", refused.text)
		}
		refused.contains("3 sessions", "release_exited", "send_process")
		d.ok("send_process", args{"session_id": ids[1], "signal": "kill"})
		d.finished(ids[1])
		if !d.call("run_command", args{"command": "true"}).failed {
			d.t.Error("an exited session does not count although it is retained")
		}
		d.ok("poll_process", args{"session_ids": ids, "release_exited": true}).want("retained_session_count", "2")
		last := d.start("exec sleep 1000")
		if want := fmt.Sprintf("_%d", 4); !strings.HasSuffix(last, want) {
			d.t.Errorf("session %s: numbers are used once, the next is 4", last)
		}
	}},
	{name: "the window ends", play: func(_ *testing.T, d *desk) {
		began := time.Now()
		a := d.within("echo early; exec sleep 1000", 50*time.Millisecond)
		a.want("state", "running", "finished", "false", "released", "false")
		a.contains("50 ms", "not killed")
		if took := time.Since(began); took > patience/2 {
			d.t.Errorf("took %v", took)
		}
	}},
}
