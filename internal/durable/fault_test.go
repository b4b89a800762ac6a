package durable_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// fault is what happens at the calls from number at on (counted from one).
type fault struct {
	at    int
	times int // how many calls in a row fail; 0: every later one
	err   error

	seen, fired int
	label       string // of the first call that failed
	kept        bool   // the removal of the temporary file failed, too
}

func (f *fault) hook(label string, op durable.Op) error {
	f.seen++
	if f.seen < f.at || f.times > 0 && f.seen >= f.at+f.times {
		return nil
	}
	if _, short := errors.AsType[durable.ShortWrite](f.err); short && op.Call != durable.CallWrite {
		return nil
	}
	f.fired++
	if f.label == "" {
		f.label = label
	}
	f.kept = f.kept || label == durable.LabelDiscard
	return f.err
}

// Every call of a publication fails in every way: the file is old or new, never torn,
// the error says which, and no temporary file stays.
func TestFaultAtEveryCall(t *testing.T) {
	kinds := []struct {
		name  string
		err   error
		times int
	}{
		{"EIO once", unix.EIO, 1},
		{"EIO for ever", unix.EIO, 0},
		{"ENOSPC once", unix.ENOSPC, 1},
		{"ENOSPC for ever", unix.ENOSPC, 0},
		{"EINTR", unix.EINTR, 3},
		{"EINTR for ever", unix.EINTR, 0},
		{"short write", durable.ShortWrite(100), 1},
		{"one byte a write", durable.ShortWrite(1), 50},
		{"write of nothing", durable.ShortWrite(0), 0},
	}
	labels := map[string]bool{}
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for at := 1; ; at++ {
				f := &fault{at: at, times: kind.times, err: kind.err}
				if publishWithFault(t, f); f.fired == 0 {
					break // the fault has moved past the last call
				}
				labels[f.label] = true
			}
		})
	}
	for _, want := range []string{
		durable.LabelCreate, durable.LabelMode, durable.LabelWrite, durable.LabelSync,
		durable.LabelClose, durable.LabelRename, durable.LabelSyncDir,
	} {
		if !labels[want] {
			t.Errorf("no fault was tried at %s", want)
		}
	}
}

func publishWithFault(t *testing.T, f *fault) {
	t.Helper()
	root := t.TempDir()
	path := filepath.Join(root, "state.json")
	mustPlace(t, path, oldContent)
	armed := false
	dir := mustOpenHooked(t, root, func(label string, op durable.Op) error {
		if !armed {
			return nil
		}
		return f.hook(label, op)
	})
	p, err := durable.NewPublisher(dir, "state.json")
	if err != nil {
		t.Fatal(err)
	}
	before := openDescriptors(t)
	armed = true
	err = p.Publish(writer(newContent))
	armed = false
	p.Close()
	where := fmt.Sprintf("call %d (%s)", f.at, f.label)
	if after := openDescriptors(t); after != before {
		t.Errorf("%s: %d descriptors, %d before", where, after, before)
	}
	checkOutcome(t, where, f, wholeContent(t, path), err)
	if left := temps(t, root); len(left) > 0 != f.kept {
		t.Errorf("%s: left behind: %v", where, left)
	}
	if err := dir.RemoveStale(); err != nil || len(temps(t, root)) != 0 {
		t.Errorf("%s: after reopening: %v, %v", where, temps(t, root), err)
	}
}

// harmless tells whether a publication gets past f by trying again.
func (f *fault) harmless() bool {
	if short, ok := errors.AsType[durable.ShortWrite](f.err); ok {
		return short > 0
	}
	return errors.Is(f.err, unix.EINTR) && f.times > 0
}

func checkOutcome(t *testing.T, where string, f *fault, content string, err error) {
	t.Helper()
	if f.fired == 0 || f.harmless() {
		if err != nil || content != "new" {
			t.Errorf("%s: the content is %s: %v", where, content, err)
		}
		return
	}
	pe, ok := errors.AsType[*durable.PublishError](err)
	if !ok {
		t.Fatalf("%s: %v came out as %v", where, f.err, err)
	}
	if pe.Published != (content == "new") {
		t.Errorf("%s: published %v, but the content is %s", where, pe.Published, content)
	}
	if f.times == 1 && pe.Step != f.label {
		t.Errorf("%s: the error names %s", where, pe.Step)
	}
	if errno, ok := errors.AsType[unix.Errno](f.err); ok && !errors.Is(err, errno) {
		t.Errorf("%s: the cause is lost: %v", where, err)
	}
}

// A child kills itself at every labelled call of a whole session: what it leaves is old
// or new, its lock is free at once, and the next opening cleans up.
func TestKillAtEveryCall(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := 1; ; n++ {
		root := t.TempDir()
		path := filepath.Join(root, "state", "state.json")
		mustPlace(t, path, oldContent)
		err := childCommand(t, "publish", root, strconv.Itoa(n)).Run()
		if err == nil {
			t.Logf("%d points, every child seen dead; left %v", n-1, seen)
			break
		}
		if !killed(err) {
			t.Fatalf("point %d: the child was not killed: %v", n, err)
		}
		content := wholeContent(t, path)
		seen[content]++
		if len(temps(t, filepath.Dir(path))) > 0 {
			seen["temporary files"]++
		}
		if err := session(root, nil); err != nil {
			t.Fatalf("point %d: next start: %v", n, err)
		}
		if left := temps(t, filepath.Dir(path)); len(left) != 0 {
			t.Errorf("point %d: left behind: %v", n, left)
		}
		if wholeContent(t, path) != "new" {
			t.Errorf("point %d: the next save is not there", n)
		}
	}
	if seen["old"] == 0 || seen["new"] == 0 || seen["temporary files"] == 0 {
		t.Errorf("the kills missed a side: %v", seen)
	}
}

func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
