//go:build crash

package crashworker

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"simplex/hub/fakehub"
	"simplex/persistence/sqlitestore"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// place is a disk on which the real worker saves in a format.
type place struct {
	*disk
	image  string // to begin with
	format string
	prefix []string // of the worker's command line
}

func places(t *testing.T, d *disk) (out []place) {
	image := d.base(func(mnt string) {
		if err := os.Mkdir(sessionRoot(mnt), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	for _, format := range formats {
		out = append(out, place{disk: d, image: image, format: format})
	}
	return out
}

// TestPowerCutsOfTheWorker cuts the power when the Hub has the n-th event of the real
// worker's run, for every n.
func TestPowerCutsOfTheWorker(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, d := range disks(t) {
		for _, at := range places(t, d) {
			var f figures
			for n, last := 1, false; !last; n++ {
				t.Run(fmt.Sprintf("%s/%s/%d", d.name, at.format, n), func(t *testing.T) { last = f.cutAfter(t, at, n) })
				if t.Failed() {
					return
				}
			}
			fmt.Printf("power   worker fs=%-14s format=%-6s %v\n", d.name, at.format, &f)
			if f.lost+f.corrupt > 0 {
				t.Errorf("%s on %s: %s", at.format, d.name, strings.Join(f.first, "\n"))
			}
		}
	}
}

// TestPowerCutsOfTheWorkerSeeAMissingSync lets the kernel skip the worker's fsyncs.
func TestPowerCutsOfTheWorkerSeeAMissingSync(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, d := range disks(t) {
		for _, at := range places(t, d) {
			at.prefix = []string{"strace", "-D", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0"}
			var f figures
			t.Run(d.name+"/"+at.format, func(t *testing.T) { f.cutAfter(t, at, 1000) }) // after the run's end
			fmt.Printf("control power: fsync: worker without, fs=%-14s format=%-6s %v seen=%v\n", d.name, at.format, &f, f.lost+f.corrupt > 0)
			if f.lost+f.corrupt == 0 {
				t.Errorf("%s on %s: the missing fsync was not seen", at.format, d.name)
			}
		}
	}
}

// cutAfter tells whether the n-th event was the run's last.
func (f *figures) cutAfter(t *testing.T, at place, n int) (last bool) {
	at.begin(at.image)
	defer at.end()
	root := sessionRoot(at.mnt)
	r := worker(t, at.format, root)
	r.Prefix = at.prefix
	p := r.Online()
	r.Payload(rig.Approved("q1", "work"))
	var seen []fakehub.Event
	for len(seen) < n && !last {
		e := r.Next()
		seen = append(seen, e)
		last = e.Name == "run_finished"
	}
	p.Kill() // first, for it would end by itself when it notices
	at.cut()
	var known told
	known.take(append(seen, r.Hub.Rest()...))
	ran := r.Effects()
	at.restore()
	where := fmt.Sprintf("%s on %s, cut after event %d (%s)", at.format, at.name, n, rig.Label(seen[len(seen)-1]))
	f.points++
	f.acknowledged += known.calls + known.results
	r.Prefix = nil
	f.afterwards(where, at.format, root, r, &known, ran)
	return last
}

// afterwards checks what a worker that died left, and starts the next.
func (f *figures) afterwards(where, format, root string, r *rig.Rig, known *told, ran []string) {
	st, err := stored(format, root)
	if errors.Is(err, sqlitestore.ErrNeedsOwner) { // the shared memory is on no disk
		if doc, herr := held(format, root, "s1"); herr == nil {
			st, err = state.Decode([]byte(doc))
		} else {
			err = herr
		}
	}
	if err != nil {
		f.found(&f.corrupt, "%s: %v", where, err)
		return
	}
	if problem := known.lost(st); problem != "" {
		f.found(&f.lost, "%s: %s", where, problem)
		return
	}
	if problem := goesOn(r, st); problem != "" {
		f.found(&f.corrupt, "%s: %s", where, problem)
	}
	if after := r.Effects(); twice(after) || len(after) < len(ran) {
		f.found(&f.corrupt, "%s: effects %v, then %v", where, ran, after)
	}
}
