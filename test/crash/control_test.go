//go:build crash

package crash

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// planted is a fault that the harness must see.
type planted struct {
	name     string
	file     string
	old, new string
	ops      []string
	seen     bool     // by layer B; a killed process loses no page cache, so it never sees a missing fsync
	more     []string // further texts of the file, each followed by what stands in its place
}

func plantedFaults() []planted {
	return []planted{
		{"the record is written in place", "manager/execute.go", `	temp, name := s.id()+tempSuffix, s.id()+recordSuffix
`, `	temp, name := s.id()+tempSuffix, s.id()+recordSuffix
	if err := s.mgr.RemoveTree(name); err != nil {
		return err
	}
	if err := s.write(s.mgr, name, raw); err != nil {
		return err
	}
	s.published, s.rec = true, rec
	if s.published {
		return s.mgr.Sync()
	}
`, []string{"refresh", "remove"}, true, nil},
		{"deleted first, tombstone last", "manager/plan.go", `		p.steps = append(p.steps, step{stepRemoving, now.rec.Removing()})
`, ``, []string{"remove"}, true, nil},
		{"the tombstone keeps the configuration", "manager/record/record.go", `Nonce: r.Nonce, Revision: r.Revision, Root: r.Root, ForkOrigin: r.ForkOrigin,
`, `Nonce: r.Nonce, Revision: r.Revision, Root: r.Root, ForkOrigin: r.ForkOrigin, Unknown: []byte("{\"x\":\"` + secret + `\"}"),
`, []string{"remove"}, true, nil},
		{"a stale temporary file is kept", "manager/execute.go", `	if err := s.mgr.RemoveTree(temp); err != nil { // a killed request's, or somebody's link
		return err
	}
`, ``, []string{"refresh"}, true, nil},
		{"no fsync of the record", "manager/execute.go", `		err = f.Sync()
`, `		err = nil
`, []string{"refresh"}, false, nil},
	}
}

// Binaries with planted faults: what the harness cannot see it must not be trusted for.
func TestPlantedFaultsAreCaught(t *testing.T) {
	needStrace(t)
	caught := 0
	all := plantedFaults()
	for _, p := range all {
		var ops []operation
		for _, op := range operations() {
			for _, name := range p.ops {
				if op.name == name {
					ops = append(ops, op)
				}
			}
		}
		f := kill(t, build(t, p.overlay(t)), ops)
		report(t, "control %-40s points=%d violations=%d", p.name, f.points, f.violations)
		if (f.violations > 0) != p.seen {
			t.Errorf("%s: %d violations in %d points", p.name, f.violations, f.points)
		}
		if f.violations > 0 {
			caught++
		}
	}
	report(t, "controls planted=%d caught=%d invisible_by_layer=B: no fsync of the record", len(all), caught)
}

// overlay writes the changed file and tells the compiler to take it.
func (p planted) overlay(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../..", p.file))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for pair := range slices.Chunk(append([]string{p.old, p.new}, p.more...), 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("%s: the place is not in %s once", p.name, p.file)
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	for name, text := range map[string]string{changed: text, overlay: string(list)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
