package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"simplex/persistence/archive"
	"simplex/persistence/readable"
	"simplex/state"
)

const runID = "6f1c2a34-0b9d-4c1e-8f00-0123456789ab"

var noon = time.Date(2031, 2, 3, 12, 0, 0, 0, time.UTC)

func memory(t testing.TB, dir string, keep int) *archive.Memory {
	t.Helper()
	m, err := archive.New(archive.Config{Dir: dir, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func conversation(texts ...string) *state.State {
	st := state.New("s", noon)
	for _, text := range texts {
		st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", text)})
	}
	return st
}

// write makes one archive the way compaction does.
func write(t testing.TB, m *archive.Memory, text string) string {
	t.Helper()
	name, err := m.Next(noon, runID)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(name, conversation(text)); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestArchive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "session", "memory")
	m := memory(t, dir, 5)
	name, err := m.Next(noon, runID)
	if want := "00000000000000000001-2031-02-03T120000Z-" + runID; err != nil || name != want {
		t.Fatalf("%q, %v", name, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking for a name made the directory: %v", err)
	}
	if err := m.Write(name, conversation("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an archive that nobody made is written: %v", err)
	}
	if got := write(t, m, "hello"); got != name {
		t.Errorf("made %s", got)
	}
	var want bytes.Buffer
	if err := readable.Write(&want, conversation("hello"), readable.Limits{}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(m.File(name))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%v\n%s", err, got)
	}
	if info, err := os.Stat(filepath.Dir(m.File(name))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := m.Create(name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an archive is made twice: %v", err)
	}
	if next, err := m.Next(noon, runID); err != nil || !strings.HasPrefix(next, "00000000000000000002-") {
		t.Errorf("%q, %v", next, err)
	}
}

// An ordinal is consumed by whatever carries it, and a failed write leaves the directory.
func TestOrdinalsAreConsumed(t *testing.T) {
	t.Parallel()
	m := memory(t, t.TempDir(), 5)
	if err := os.WriteFile(filepath.Join(m.Dir(), "00000000000000000041-a-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name, err := m.Next(noon, runID)
	if err != nil || name[:20] != "00000000000000000042" {
		t.Fatalf("%q, %v", name, err)
	}
	if err := m.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := m.Write(name, conversation("\xff")); !errors.Is(err, state.ErrInvalidUTF8) {
		t.Errorf("%v", err)
	}
	if next, err := m.Next(noon, runID); err != nil || next[:20] != "00000000000000000043" {
		t.Errorf("%q, %v", next, err)
	}
	if err := os.Mkdir(filepath.Join(m.Dir(), "18446744073709551615-"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Next(noon, runID); !errors.Is(err, archive.ErrExhausted) {
		t.Errorf("%v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	if _, err := archive.New(archive.Config{Dir: "memory"}); !errors.Is(err, archive.ErrRelative) {
		t.Errorf("%v", err)
	}
	if _, err := archive.New(archive.Config{Dir: "/m", Keep: -1}); err == nil {
		t.Error("a negative number is taken")
	}
	m := memory(t, t.TempDir(), 1)
	for _, bad := range []string{"", "..", "../x", "00000000000000000001-x"} {
		if err := m.Create(bad); !errors.Is(err, archive.ErrName) {
			t.Errorf("create %q: %v", bad, err)
		}
		if err := m.Write(bad, conversation()); !errors.Is(err, archive.ErrName) {
			t.Errorf("write %q: %v", bad, err)
		}
	}
	if _, err := m.Next(noon, "run-1"); !errors.Is(err, archive.ErrRunID) {
		t.Errorf("%v", err)
	}
	name, _ := m.Next(noon, runID)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(m.Dir(), name)); err != nil {
		t.Fatal(err)
	}
	if err := m.Create(name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link in the way: %v", err)
	}
	if err := m.Write(name, conversation()); err == nil {
		t.Error("an archive is written through a link")
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func archives(t testing.TB, m *archive.Memory) (ordinals []string) {
	t.Helper()
	entries, err := os.ReadDir(m.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		ordinals = append(ordinals, strings.TrimLeft(e.Name()[:20], "0"))
	}
	return ordinals
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		keep, current int
		refers        []int
		want          string
	}{
		{"the newest stay", 2, 5, nil, "[4 5]"},
		{"one stays", 1, 5, nil, "[5]"},
		{"zero keeps all", 0, 5, nil, "[1 2 3 4 5]"},
		{"room for all", 9, 5, nil, "[1 2 3 4 5]"},
		{"a reference counts", 3, 5, []int{1}, "[1 4 5]"},
		{"references may be more", 2, 5, []int{1, 2, 3}, "[1 2 3 5]"},
		{"current need not be the newest", 1, 2, nil, "[2]"},
	} {
		m := memory(t, t.TempDir(), tt.keep)
		names := []string{""}
		size := int64(0)
		for i := range 5 {
			names = append(names, write(t, m, fmt.Sprint("text ", i)))
			info, err := os.Stat(m.File(names[i+1]))
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		st := conversation()
		for _, r := range tt.refers {
			st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", "see "+m.File(names[r])+".")})
		}
		got, err := m.Clean(names[tt.current], st, nil)
		if left := fmt.Sprint(archives(t, m)); err != nil || left != tt.want {
			t.Errorf("%s: %s is left, %v", tt.name, left, err)
		}
		for _, n := range names[1:] {
			if info, err := os.Stat(m.File(n)); err == nil {
				size -= info.Size()
			}
		}
		if gone := 5 - len(archives(t, m)); got.Archives != uint64(gone) || got.Bytes != uint64(size) {
			t.Errorf("%s: told %+v, gone %d with %d bytes", tt.name, got, gone, size)
		}
	}
}

// What is not plainly an archive is left alone, and so is everything behind a link.
func TestCleanLeavesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	m := memory(t, t.TempDir(), 1)
	outside := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(outside, archive.FileName), []byte("precious"), 0o600))
	at := func(n int, rest ...string) string {
		return filepath.Join(append([]string{m.Dir(), fmt.Sprintf("%020d-2031-02-03T120000Z-%s", n, runID)}, rest...)...)
	}
	must(os.Symlink(outside, at(1)))
	must(os.Mkdir(at(2), 0o700)) // empty
	must(os.MkdirAll(at(3, archive.FileName), 0o700))
	must(os.Mkdir(at(4), 0o700))
	must(os.WriteFile(at(4, archive.FileName), nil, 0o600))
	must(os.WriteFile(at(4, "notes.md"), nil, 0o600))
	must(os.Mkdir(at(5), 0o700))
	must(os.Symlink(filepath.Join(outside, archive.FileName), at(5, archive.FileName)))
	must(os.WriteFile(at(6), nil, 0o600))
	must(os.Mkdir(at(7)+"0", 0o700))
	must(os.Mkdir(filepath.Join(m.Dir(), "notes"), 0o700))
	must(os.Mkdir(at(8), 0o700))
	must(os.WriteFile(at(8, "other.md"), nil, 0o600))
	before := tree(t, m.Dir())
	current := write(t, m, "now")
	done, err := m.Clean(current)
	if err != nil || done.Archives != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	os.RemoveAll(filepath.Dir(m.File(current)))
	if after := tree(t, m.Dir()); !slices.Equal(before, after) {
		t.Errorf("before %q\nafter %q", before, after)
	}
	if raw, err := os.ReadFile(filepath.Join(outside, archive.FileName)); err != nil || string(raw) != "precious" {
		t.Errorf("%q, %v", raw, err)
	}
}

func tree(t testing.TB, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		out = append(out, path+" "+d.Type().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCleanNeedsTheCurrentArchive(t *testing.T) {
	t.Parallel()
	m := memory(t, t.TempDir(), 1)
	old, current := write(t, m, "old"), write(t, m, "new")
	if err := os.Remove(m.File(current)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Clean(current); !errors.Is(err, archive.ErrCurrentMissing) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(m.File(old)); err != nil {
		t.Error("something was removed all the same")
	}
	gone := memory(t, filepath.Join(t.TempDir(), "none"), 1)
	if _, err := gone.Clean(current); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// One archive that cannot be removed is told and does not keep the others.
func TestCleanGoesOn(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may remove everything")
	}
	m := memory(t, t.TempDir(), 1)
	stuck, other, current := write(t, m, "a"), write(t, m, "b"), write(t, m, "c")
	dir := filepath.Dir(m.File(stuck))
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	done, err := m.Clean(current)
	if done.Archives != 1 || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Stat(m.File(other)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A reference is found in every string of a state, in JSON as well, whatever characters
// the directory has.
func TestReferences(t *testing.T) {
	t.Parallel()
	const dir = "/srv/a \"quoted\"\\dir\n/memory"
	text := func(n int) string { return fmt.Sprintf("x %s/name-%d/state.md", dir, n) }
	value := func(n int) state.Object {
		return state.ObjectFrom([]state.Member{{Name: "k", Value: state.ObjectFrom([]state.Member{{Name: text(n), Value: state.StringValue(text(n + 1))}}).Value}})
	}
	content := func(n int) state.Content { return state.Content{Raw: text(n), Extras: value(n + 1)} }
	reasoning, action := content(30), content(33)
	call := state.Call{Name: text(40), ID: text(41), Arguments: value(42).Value, Extras: value(44)}
	message := &state.Message{
		Role: text(50), Content: []state.Content{content(51)}, Reasoning: &reasoning, ActionStatus: &action,
		Calls: []state.Call{call}, Extras: value(54),
	}
	result := &state.Message{Result: &state.Result{Call: state.Call{Arguments: state.StringValue(text(60))}, Output: content(61), Extras: value(64)}}
	st := state.New("s", noon)
	st.SystemPrompt.Sections = []state.Section{{Name: text(1), Title: text(2), Text: text(3)}}
	remote := text(24)
	st.Tools = []state.Tool{{RemoteType: &remote, Name: text(4), Description: text(5), ArgumentSchema: value(6), Extras: value(8)}}
	st.Extras = value(10)
	st.Turns = []*state.Turn{{
		UserInput: state.NewTextMessage(state.UserInput, "", text(20)), Extras: state.ObjectFrom([]state.Member{{Name: text(21)}}),
		Steps: []*state.Step{{ModelResponse: message, Returns: []*state.Message{result}, Extras: value(22)}},
	}}
	found := archive.References(dir, st)
	var want []int
	for _, r := range [][2]int{{1, 11}, {20, 24}, {30, 35}, {40, 45}, {50, 55}, {60, 65}} {
		for n := r[0]; n <= r[1]; n++ {
			want = append(want, n)
		}
	}
	for _, n := range want {
		if name := fmt.Sprintf("name-%d", n); !found[name] {
			t.Errorf("%s was not found", name)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d found, want %d", len(found), len(want))
	}
	other := conversation("/srv/memory", "/srv/memory/", "/srv/memory2/name", "no path")
	if found := archive.References("/srv/memory", other); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

// For any set of archives and references: protected ones stay, the number is respected
// where it can be, and what stays beyond the protected is the newest.
func TestCleanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "m")
		if err != nil {
			rt.Fatal(err)
		}
		keep := rapid.IntRange(1, 5).Draw(rt, "keep")
		m := memory(t, dir, keep)
		var names []string
		for range rapid.IntRange(1, 6).Draw(rt, "archives") {
			names = append(names, write(t, m, "x"))
		}
		current := names[len(names)-1]
		protected := map[string]bool{current: true}
		st := conversation()
		for _, n := range names {
			if rapid.Bool().Draw(rt, "referred") {
				protected[n] = true
				st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "", m.File(n))})
			}
		}
		if _, err := m.Clean(current, st); err != nil {
			rt.Fatal(err)
		}
		kept, oldestFree, removedFree := 0, len(names), -1
		for i, n := range names {
			_, err := os.Stat(m.File(n))
			switch {
			case err == nil:
				kept++
				if !protected[n] {
					oldestFree = min(oldestFree, i)
				}
			case protected[n]:
				rt.Fatalf("protected %s is gone", n)
			default:
				removedFree = i
			}
		}
		if want := min(len(names), max(keep, len(protected))); kept != want || removedFree > oldestFree {
			rt.Fatalf("%d kept of %d, want %d; removed %d, kept free %d", kept, len(names), want, removedFree, oldestFree)
		}
	})
}
