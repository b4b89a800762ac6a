package exec

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// processRows are about what commands start besides themselves, and how it ends.
var processRows = []row{
	{name: "background grandchild", play: func(t *testing.T, d *desk) { // BR-001
		began := time.Now()
		a := d.within("trap '' HUP; echo ready; sleep 1000 & exit 4", 300*time.Millisecond)
		if took := time.Since(began); took > patience/2 {
			t.Errorf("took %v", took)
		}
		a.want("state", "exited", "exit_code", "4", "finished", "true", "output_complete", "false", "released", "false")
		a.contains("poll_process")
		if a.output() != "ready\n" {
			t.Errorf("got %q", a.output())
		}
		id := a.field("session_id")
		if left := marked(t, d.mark); len(left) == 0 {
			t.Error("the grandchild was ended although nobody asked for it")
		}
		began = time.Now()
		d.ok("poll_process", args{"wait_timeout_milliseconds": 0, "release_exited": true}).want("released", `["`+id+`"]`)
		if took := time.Since(began); took > patience/2 { // the drain deadline, not the grandchild
			t.Errorf("release took %v", took)
		}
		uproot(t, d.mark)
	}},
	{name: "twenty grandchildren in a row", only: "pipe", play: func(t *testing.T, d *desk) { // BR-001
		before := descriptors(t)
		for range 20 {
			a := d.within("echo ready; sleep 1000 &", time.Millisecond)
			for a.field("state") != "exited" {
				a = d.ok("poll_process", args{"wait_timeout_milliseconds": 20})
			}
			uproot(t, d.mark)
			d.finished(a.field("session_id"))
			d.ok("poll_process", args{"release_exited": true}).want("retained_session_count", "0")
		}
		// Other rows come and go meanwhile; a leak would be one or two for each command.
		if after := descriptors(t); after > before+200 {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	}},
	{name: "a stuck command is ended with all it started", play: func(t *testing.T, d *desk) { // BR-002
		id := d.start("printf foo; sleep 1000; printf bar")
		d.until(id, "foo")
		d.ok("send_process", args{"session_id": id, "signal": "kill"})
		d.finished(id).want("exit_code", "137", "signal", "SIGKILL")
		if got := d.read(id).output(); got != "foo" {
			t.Errorf("got %q", got)
		}
		for pid, line := range marked(t, d.mark) {
			t.Errorf("left: %d %s", pid, line)
		}
	}},
	{name: "a child that ignores TERM", play: func(t *testing.T, d *desk) {
		id := d.start("trap '' TERM; echo up; while :; do sleep 1000; done")
		d.until(id, "up")
		d.ok("send_process", args{"session_id": id, "signal": "term"}).want("signalled", "true")
		d.ok("poll_process", args{"session_ids": []string{id}, "wait_timeout_milliseconds": 50}).want("timed_out", "true", "state", "running")
		began := time.Now()
		must(t, d.registry.Shutdown(context.Background()))
		if took := time.Since(began); took < 200*time.Millisecond || took > patience/2 {
			t.Errorf("shutdown took %v, the grace time is 200 ms", took)
		}
	}},
	{name: "setsid escapee", alone: true, play: func(t *testing.T, d *desk) {
		a := d.run("trap '' HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1000; done' </dev/null >/dev/null 2>&1 & echo gone")
		a.want("exit_code", "0", "output_complete", "true", "released", "true") // nothing holds the output
		id := d.start("trap '' HUP; setsid sleep 1000 & (setsid sh -c '(sleep 1000 &)' &) ; echo up; wait")
		d.until(id, "up")
		for deadline := time.Now().Add(patience); len(marked(t, d.mark)) < 5; {
			if time.Now().After(deadline) {
				t.Fatalf("the escapees are not there: %v", marked(t, d.mark))
			}
			d.ok("poll_process", args{"wait_timeout_milliseconds": 10})
		}
		must(t, d.registry.Shutdown(context.Background())) // the desk looks for what is left
	}},
	{name: "a fork bomb of 200", alone: true, play: func(t *testing.T, d *desk) {
		id := d.start("trap '' HUP; bomb() { [ $1 -le 0 ] || { bomb $(($1 - 1)) & }; sleep 1000; }; bomb 200 & echo lit; wait")
		d.until(id, "lit")
		for deadline := time.Now().Add(patience); len(marked(t, d.mark)) < 200; {
			if time.Now().After(deadline) {
				t.Fatalf("%d processes of the bomb are there", len(marked(t, d.mark)))
			}
			d.ok("poll_process", args{"wait_timeout_milliseconds": 10})
		}
		d.run("echo still here").want("exit_code", "0")
		began := time.Now()
		must(t, d.registry.Shutdown(context.Background()))
		if took := time.Since(began); took > patience/2 {
			t.Errorf("shutdown took %v", took)
		}
	}},
	{name: "nothing is inherited", play: func(t *testing.T, d *desk) {
		// The listing itself has one more for the directory it reads.
		a := d.run("ls /proc/self/fd")
		if got := strings.Fields(a.output()); len(got) != 4 {
			t.Errorf("descriptors %q", got)
		}
	}},
	{name: "a long command line", play: func(t *testing.T, d *desk) { // BR-007
		line := "cat <<'END' | wc -c\n" + strings.Repeat("x", 139_999) + "\nEND\n"
		if got := strings.TrimSpace(d.run(line).output()); got != "140000" {
			t.Errorf("%q bytes", got)
		}
	}},
	{name: "many at once", play: func(t *testing.T, d *desk) {
		var ids []string
		for i := range 16 {
			ids = append(ids, d.start(fmt.Sprintf("read x; echo $x-%d; exit %d", i, i)))
		}
		for _, id := range ids {
			d.send(id, "in\n")
		}
		for i, id := range ids {
			d.finished(id).want("exit_code", strconv.Itoa(i))
			if got := d.read(id).output(); got != fmt.Sprintf("in-%d\n", i) {
				t.Errorf("%d: %q", i, got)
			}
		}
		d.ok("poll_process", args{"release_exited": true}).want("finished_count", "16", "retained_session_count", "0")
	}},
}
