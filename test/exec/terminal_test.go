package exec

import (
	"context"
	"strings"
	"testing"
	"time"

	"simplex/process"
)

func TestTerminalFromTheFirstInstruction(t *testing.T) { // BR-013, BR-016
	t.Parallel()
	d := newDesk(t, true, process.Config{})
	a := d.run("stty size; tput cols 2>/dev/null || echo 80; echo $TERM; stty -a | grep -ow -e '-echo' -e icanon | sort; test -t 0 && test -t 1 && test -t 2 && echo terminal; printf 'one\\ntwo\\n'; ps -o sid= -p $$ | grep -cw $$")
	a.want("exit_code", "0", "tty", "true")
	a.whole()
	if got, want := a.output(), "24 80\n80\ndumb\n-echo\nicanon\nterminal\none\ntwo\n1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if raw := a.block("output"); !strings.HasPrefix(raw, "24 80\r\n") {
		t.Errorf("line ends are the terminal's: %q", raw)
	}
}

func TestResize(t *testing.T) { // BR-016
	t.Parallel()
	d := newDesk(t, true, process.Config{})
	id := d.start("trap 'stty size' WINCH; echo up; while read line; do stty size; done; exit 0")
	d.until(id, "up")
	s, err := d.store.Get(id)
	must(t, err)
	must(t, s.Resize(132, 40))
	d.send(id, "\n")
	d.until(id, "40 132\r\n")
	must(t, s.Resize(100, 30))
	d.send(id, "\n")
	d.until(id, "30 100\r\n")
}

func TestNothingIsLostFromAQuickProgram(t *testing.T) { // BR-014
	t.Parallel()
	d := newDesk(t, true, process.Config{})
	for i := range 200 {
		a := d.run("head -c 20480 /dev/zero | tr '\\0' x")
		a.want("exit_code", "0", "output_complete", "true")
		a.whole()
		if got := a.output(); len(got) != 20480 || strings.Trim(got, "x") != "" {
			t.Fatalf("round %d: %d bytes", i, len(got))
		}
	}
}

func TestEndOfInputIsARequest(t *testing.T) {
	t.Parallel()
	d := newDesk(t, true, process.Config{})
	id := d.start("cat; echo first; cat; echo second")
	a := d.ok("send_process", args{"session_id": id, "input": "no line end", "close_input": true})
	a.want("input_closed", "false")
	a.contains("request")
	d.until(id, "no line endfirst\r\n")
	d.send(id, "more\n") // the input is still open
	d.until(id, "more\r\n")
	d.ok("send_process", args{"session_id": id, "close_input": true})
	d.finished(id).want("exit_code", "0")
	if got := d.read(id).output(); got != "no line endfirst\nmore\nsecond\n" {
		t.Errorf("got %q", got)
	}
}

// A line that canonical mode would cut without a word is refused; what fits arrives whole,
// although the program does not read yet.
func TestLongLines(t *testing.T) { // BR-015
	t.Parallel()
	d := newDesk(t, true, process.Config{})
	id := d.start("echo up; read -r go; head -n 12 | wc -c")
	d.until(id, "up")
	refused := d.call("send_process", args{"session_id": id, "input": strings.Repeat("y", 5000) + "\n"})
	if !refused.failed {
		t.Fatalf("5,000 characters: %s", refused.text)
	}
	refused.contains("4095")
	d.send(id, "go\n")
	for range 12 {
		d.send(id, strings.Repeat("y", 3000)+"\n")
	}
	d.finished(id)
	if got := strings.TrimSpace(d.read(id).output()); got != "up\n36012" {
		t.Errorf("got %q", got)
	}
}

// Descendants that keep the terminal open hold up neither a release nor the shutdown.
func TestSlaveIsHeldByADescendant(t *testing.T) {
	reaper := adopt(t)
	for name, end := range map[string]func(d *desk, id string){
		"release": func(d *desk, id string) {
			d.ok("read_process", args{"session_id": id, "release": true}).want("released", "true")
		},
		"shutdown": func(d *desk, _ string) { must(d.t, d.registry.Shutdown(context.Background())) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, true, process.Config{Reaper: reaper})
			id := d.start("trap '' HUP TERM; setsid sh -c 'echo held; while :; do sleep 1000; done' & read x")
			d.until(id, "held")
			d.send(id, "\n")
			a := d.ok("poll_process", args{"session_ids": []string{id}, "wait_timeout_milliseconds": 0})
			for a.field("state") == "running" {
				a = d.ok("poll_process", args{"session_ids": []string{id}, "wait_timeout_milliseconds": 10})
			}
			a.want("exit_code", "0", "output_complete", "false")
			began := time.Now()
			end(d, id)
			if took := time.Since(began); took > patience/2 {
				t.Errorf("took %v", took)
			}
		})
	}
}
