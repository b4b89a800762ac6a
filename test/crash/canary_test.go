//go:build crash

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// canaryDir lies beside a point's root. Nothing that any request does may touch it.
const canaryDir = "canary"

func (b *bench) canary() string { return filepath.Join(filepath.Dir(b.root), canaryDir) }

// plantCanary makes the canary once on every file system and keeps what it looks like.
func (b *bench) plantCanary() {
	b.tb.Helper()
	switch err := os.Mkdir(b.canary(), 0o750); {
	case os.IsExist(err) && b.alive != "":
		return // a later point of the same file system
	case err != nil:
		b.tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.canary(), "kept"), []byte("outside of every allocation"), 0o640); err != nil {
		b.tb.Fatal(err)
	}
	b.alive = treeOf(b.tb, b.canary())
}

// leadOut plants links in an allocation's root by which a deletion could get out to the
// canary: one to the directory, one to the file.
func (b *bench) leadOut(id string) {
	b.tb.Helper()
	for name, target := range map[string]string{"memory/out": b.canary(), "out.file": filepath.Join(b.canary(), "kept")} {
		if err := os.Symlink(target, filepath.Join(b.dir(id), name)); err != nil {
			b.tb.Fatal(err)
		}
	}
}

// escaped tells what happened outside of the allocations.
func (b *bench) escaped() []string {
	if now := treeOf(b.tb, b.canary()); now != b.alive {
		return []string{fmt.Sprintf("outside of the root: %s, was %s", now, b.alive)}
	}
	return nil
}

// A deletion that follows links must be seen by the canary, also where nobody kills it.
func TestCanarySeesPlantedFault(t *testing.T) {
	needStrace(t)
	p := planted{name: "the deletion follows links", file: "internal/safepath/remove.go", old: `	err = d.ops.unlink(d.fd, name)
	switch {
`, new: `	if target, lerr := filepath.EvalSymlinks(filepath.Join(d.Path(), name)); lerr == nil && target != filepath.Join(d.Path(), name) {
		_ = unix.Unlink(target)
	}
	err = d.ops.unlink(d.fd, name)
	switch {
`}
	all := operations()
	f := kill(t, build(t, p.overlay(t)), all[len(all)-1:])
	report(t, "control canary: %-30s points=%d outside_changed=%d", p.name, f.points, f.kinds[kindOf("outside")])
	if f.kinds[kindOf("outside")] == 0 {
		t.Errorf("%s was not seen in %d points", p.name, f.points)
	}
}
