package ancestors_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/ancestors"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// The parent is held exclusively, what is above it shared: siblings' parents do not meet.
func TestLocksOnTheWay(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"one", "two"} { // making one would need the root alone
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	open := func(dir string) (*ancestors.Chain, error) {
		return ancestors.Open(safepath.Ops{}, filepath.Join(root, dir), true, true)
	}
	first, err := open("one/a")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if got, want := first.Last().Path(), filepath.Join(root, "one"); got != want {
		t.Errorf("the parent is %s, want %s", got, want)
	}
	if c, err := open("two/a"); err != nil {
		t.Errorf("beside it: %v", err)
	} else {
		c.Close()
	}
	for _, dir := range []string{"one/b", "b"} { // the parent itself, and one that is an ancestor
		if _, err := open(dir); !errors.Is(err, durable.ErrLocked) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	first.Unlock()
	if c, err := open("one/b"); err != nil {
		t.Errorf("after Unlock: %v", err)
	} else {
		c.Close()
	}
}

func TestMissingDirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "one/two/a")
	for _, mutates := range []bool{false, true} {
		if _, err := ancestors.Open(safepath.Ops{}, dir, mutates, false); !errors.Is(err, ancestors.ErrMissing) {
			t.Errorf("mutates %v: %v", mutates, err)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	c, err := ancestors.Open(safepath.Ops{}, dir, true, true)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := os.Stat(filepath.Dir(dir)); err != nil {
		t.Error(err)
	}
	if got, want := ancestors.Depth("/a/b/c"), 2; got != want {
		t.Errorf("depth %d, want %d", got, want)
	}
	if got := ancestors.Depth("/c"); got != 0 {
		t.Errorf("depth %d below the root", got)
	}
}

func TestNothingLiesInsideAnAllocation(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	claim := filepath.Join(root, protocol.ManagerDirectory)
	if err := errors.Join(os.Mkdir(claim, 0o700), os.WriteFile(filepath.Join(claim, "a"+record.Suffix), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := ancestors.Open(safepath.Ops{}, filepath.Join(root, "a/inner/b"), true, true)
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != protocol.NestedAllocation {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(claim, 0o770); err != nil {
		t.Fatal(err)
	}
	c, err := ancestors.Open(safepath.Ops{}, filepath.Join(root, "b"), false, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = ancestors.ManagerDir(c.Last(), safepath.Search)
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != protocol.UnsafePath {
		t.Errorf("others may write there: %v", err)
	}
}
