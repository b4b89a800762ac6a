//go:build crash

package crashworker

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"simplex/persistence/storetest"
)

// turnsSaved is how many turns, of two saves each, the driver makes at a point.
const turnsSaved = 2

// changing are the calls before which a power cut may find something new: those that the
// two stores make. Files are made by openat, as the first call between two of these.
var changing = []string{"mkdirat", "write", "pwrite64", "fchmod", "fsync", "fdatasync", "ftruncate", "renameat", "unlinkat", "unlink", "flock"}

// figures are what the points of a layer come to.
type figures struct {
	points, acknowledged, more int
	lost, corrupt              int
	first                      []string
}

func (f *figures) found(count *int, format string, args ...any) {
	*count++
	if len(f.first) < 5 {
		f.first = append(f.first, fmt.Sprintf(format, args...))
	}
}

func (f *figures) String() string {
	return fmt.Sprintf("points=%d saves_acknowledged=%d one_more=%d lost=%d corrupt=%d", f.points, f.acknowledged, f.more, f.lost, f.corrupt)
}

// driven runs the driver below strace with an injection, into calls on one path where
// that is not empty.
func driven(t *testing.T, format, root, injection, path string) (acknowledged int, killed, struck bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "strace")
	args := []string{"-f", "-qq", "-o", log, "-e", "inject=" + injection}
	if path != "" {
		args = append(args, "-P", path)
	}
	var out, complaint bytes.Buffer
	cmd := exec.Command("strace", append(args, self, root, strconv.Itoa(turnsSaved))...)
	cmd.Env = append(os.Environ(), driverVariable+"="+format, "GOMAXPROCS=1")
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		killed = exit.Sys().(syscall.WaitStatus).Signaled()
	}
	if err != nil && !killed {
		t.Fatalf("%s %v: %v: %s", format, injection, err, complaint.String())
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(out.String(), "saved\n"), killed, killed || bytes.Contains(raw, []byte("(INJECTED"))
}

// check holds what is on the disk against what was acknowledged, and makes one turn more.
func (f *figures) check(where, format, root string, docs []string, acknowledged int) {
	f.points++
	f.acknowledged += acknowledged
	got, err := held(format, root, storetest.SessionID)
	switch {
	case err != nil:
		f.found(&f.corrupt, "%s: %v", where, err)
		return
	case got == docs[acknowledged] || got == "" && acknowledged == 0:
	case acknowledged+1 < len(docs) && got == docs[acknowledged+1]:
		f.more++
	default:
		f.found(&f.lost, "%s: %d saves were acknowledged, there are %d bytes", where, acknowledged, len(got))
		return
	}
	if err := saveTurns(format, root, 1, func() error { return nil }); err != nil {
		f.found(&f.corrupt, "%s: the next owner: %v", where, err)
	}
}

// power cuts the power before every changing call of a life of the store, and after its
// end, on a disk with that many turns before. -1: without a session root.
func (f *figures) power(t *testing.T, d *disk, format string, before int) {
	base := d.base(func(mnt string) {
		if before < 0 {
			return
		}
		if err := saveTurns(format, sessionRoot(mnt), before, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
	docs := documents(max(before, 0), turnsSaved)
	for _, call := range changing {
		for n, last := 1, false; !last; n++ {
			d.begin(base)
			acknowledged, killed, _ := driven(t, format, sessionRoot(d.mnt), fmt.Sprintf("%s:signal=KILL:when=%d", call, n), "")
			last = !killed
			if last && acknowledged != len(docs)-1 {
				t.Fatalf("%s undisturbed: %d saves", format, acknowledged)
			}
			d.cut()
			d.restore()
			f.check(fmt.Sprintf("%s on %s, %d turns, cut at %s %d", format, d.name, before, call, n), format, sessionRoot(d.mnt), docs, acknowledged)
			d.end()
		}
	}
}

// TestPowerCutsAtEveryCall is layer D for the two stores.
func TestPowerCutsAtEveryCall(t *testing.T) {
	if !inside(t) {
		return
	}
	for _, d := range disks(t) {
		for _, format := range formats {
			var f figures
			for _, before := range []int{-1, 3} {
				f.power(t, d, format, before)
			}
			fmt.Printf("power   store  fs=%-14s format=%-6s %v\n", d.name, format, &f)
			if f.lost+f.corrupt > 0 || f.points < 30 || f.acknowledged == 0 {
				t.Errorf("%s on %s: %s", format, d.name, strings.Join(f.first, "\n"))
			}
		}
	}
}
