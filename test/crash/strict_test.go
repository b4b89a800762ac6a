//go:build crash

package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recording is one operation's trace with the tree it began with.
type recording struct {
	op       operation
	argument string
	base     *node
	events   []event
	record   string // after the acknowledgement
}

func record(b *bench, op operation) recording {
	b.tb.Helper()
	lay(b.tb, b.fixed, nil)
	return again(b, op, op.begin(b))
}

// again records a request on what lies there.
func again(b *bench, op operation, argument string) recording {
	b.tb.Helper()
	rec := recording{op: op, argument: argument, base: loaded(b.tb, b.root)}
	a, events := b.traced(rec.argument)
	if a.code != "" || len(events) == 0 {
		b.tb.Fatalf("%s: %s, %d events", op.name, a.text, len(events))
	}
	rec.events, rec.record = events, b.record(op.id)
	return rec
}

// without is the same trace as a program would leave it that lacks one call.
func (rec recording) without(name string) (recording, bool) {
	var events []event
	for i, e := range rec.events {
		if e.kind != "fsync" || site(rec.events, i) != name {
			events = append(events, e)
		}
	}
	dropped := len(events) < len(rec.events)
	rec.events = events
	return rec, dropped
}

// strict is layer D2: the trace on a file system that keeps only what fsync promises,
// cut after every call with nothing, everything and random mixes of the rest kept.
// enough stops at so many violations; 0: never. The states are given back.
func strict(b *bench, rec recording, mixes, enough int) (f figures, states []map[string]string) {
	b.tb.Helper()
	tree := rec.base.copied()
	seen := map[string]bool{}
	for i := 0; i <= len(rec.events); i++ {
		acknowledged := i == len(rec.events)
		where := fmt.Sprintf("%s, acknowledged", rec.op.name)
		if !acknowledged {
			where = fmt.Sprintf("%s, cut before %s", rec.op.name, rec.events[i])
		}
		for _, l := range losses(b.random, mixes) {
			left := tree.left(l)
			key := fmt.Sprint(acknowledged, left) // maps print sorted
			if seen[key] {
				continue
			}
			seen[key] = true
			f.points++
			states = append(states, left)
			lay(b.tb, b.root, left)
			problems := b.afterCut(rec, acknowledged)
			if len(problems) > 0 {
				where += fmt.Sprintf(" %q", slices.Sorted(maps.Keys(left)))
			}
			f.found(where, problems)
			if enough > 0 && f.violations >= enough {
				return f, states
			}
		}
		if !acknowledged {
			tree.apply(b.tb, rec.events[i])
		}
	}
	return f, states
}

func (b *bench) afterCut(rec recording, acknowledged bool) (out []string) {
	removes := rec.op.name == "remove"
	if acknowledged {
		if b.record(rec.op.id) != rec.record {
			out = append(out, "an acknowledged change is lost")
		}
		if removes && strings.Contains(b.tree(), secret) {
			out = append(out, "the secret is there after an acknowledged removal")
		}
	}
	out = append(out, b.unsound()...)
	return append(out, b.finish(rec.argument, removes)...)
}

// seeded gives random numbers that SEED= brings back.
func seeded(tb testing.TB) *rand.Rand {
	tb.Helper()
	n := rand.Uint64()
	if s := os.Getenv("SEED"); s != "" {
		n, _ = strconv.ParseUint(s, 10, 64)
	}
	tb.Logf("SEED=%d", n)
	return rand.New(rand.NewPCG(n, 2))
}

func strictBench(t *testing.T, binary string) *bench {
	t.Helper()
	b := &bench{tb: t, binary: binary, fixed: filepath.Join(t.TempDir(), "r"), random: seeded(t)}
	if err := os.Mkdir(b.fixed, 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// needed are the directory syncs without which something is lost: each must be seen.
// The others are carried by a later sync of the same directory.
var needed = []string{
	"fsync . after mkdir up", "fsync M after rename to M/ID.json", "fsync M/ID.stage/config after write M/ID.stage/config/config.yaml",
	"fsync M/ID.stage after write M/ID.stage/config/config.yaml", "fsync up after rename to D", "fsync up after rename to M/ID.trash",
}

func TestStrictReplay(t *testing.T) {
	needStrace(t)
	b := strictBench(t, build(t, ""))
	var total figures
	second := 0
	var recordings []recording
	for _, op := range operations() {
		rec := record(b, op)
		recordings = append(recordings, rec)
		f, states := strict(b, rec, 12, 0)
		total.add(f)
		// A second cut, in the repeat that picks up what the first one left.
		for i := range states {
			if i%2 == 0 {
				lay(t, b.root, states[i])
				f, _ := strict(b, again(b, op, rec.argument), 3, 0)
				total.add(f)
				second += f.points
			}
		}
	}
	if total.violations > 0 || total.points < 500 {
		t.Errorf("%d states: %s", total.points, strings.Join(total.first, "\n"))
	}
	directories, files := sites(t, recordings)
	unseen := unseenDrops(b, recordings, directories)
	for _, name := range needed {
		if !slices.Contains(directories, name) || slices.Contains(unseen, name) {
			t.Errorf("the drop of %q was not seen", name)
		}
	}
	unseenFiles := unseenDrops(b, recordings, files)
	if len(unseenFiles) > 0 {
		t.Errorf("drops of file syncs that were not seen: %q", unseenFiles)
	}
	report(t, "strict  states=%d after_two_cuts=%d %v single_dirsync_drops_caught=%d/%d file_sync_drops_caught=%d/%d invisible=%q", total.points, second, &total,
		len(directories)-len(unseen), len(directories), len(files)-len(unseenFiles), len(files), unseen)
}

// sites lists the places that sync directories, and those that sync files.
func sites(tb testing.TB, recordings []recording) (directories, files []string) {
	tb.Helper()
	for _, rec := range recordings {
		tree := rec.base.copied()
		for i, e := range rec.events {
			tree.apply(tb, e)
			name := site(rec.events, i)
			switch {
			case e.kind != "fsync":
			case tree.find(e.path).dir && !slices.Contains(directories, name):
				directories = append(directories, name)
			case !tree.find(e.path).dir && !slices.Contains(files, name):
				files = append(files, name)
			}
		}
	}
	return directories, files
}

func unseenDrops(b *bench, recordings []recording, names []string) (unseen []string) {
	for _, name := range names {
		violations := 0
		for _, rec := range recordings {
			if changed, ok := rec.without(name); ok && violations == 0 {
				f, _ := strict(b, changed, 12, 1)
				violations += f.violations
			}
		}
		if violations == 0 {
			unseen = append(unseen, name)
		}
	}
	return unseen
}

// The whole way with a changed program: layer D2 must see a record that is renamed
// without its directory's sync, and one whose content is not synced.
func TestStrictReplaySeesPlantedFaults(t *testing.T) {
	needStrace(t)
	for _, p := range syncFaults() {
		b := strictBench(t, build(t, p.overlay(t)))
		f := figures{}
		for _, op := range operations()[1:3] {
			part, _ := strict(b, record(b, op), 12, 0)
			f.add(part)
		}
		report(t, "control strict: %-30s states=%d violations=%d", p.name, f.points, f.violations)
		if f.violations == 0 {
			t.Errorf("%s was not seen", p.name)
		}
	}
}
