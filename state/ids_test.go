package state_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
)

// Worker-data.md decision 9.11: an id that is in use, or none at all, gets a suffix.
func TestUniqueCallID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, id string
		from     int
		used     []string
		want     string
		next     int
	}{
		{"fresh", "a", 0, nil, "a", 0},
		{"repeated", "a", 0, []string{"a"}, "a~2", 3},
		{"repeated again", "a", 0, []string{"a", "a~2", "a~3"}, "a~4", 5},
		{"a gap is filled", "a", 0, []string{"a", "a~3"}, "a~2", 3},
		{"goes on where it was", "a", 4, []string{"a", "a~2", "a~3"}, "a~4", 5},
		{"free, though numbered before", "a", 4, []string{"a~2", "a~3"}, "a", 4},
		{"a suffix of the model's own", "a~2", 0, []string{"a", "a~2"}, "a~2~2", 3},
		{"none", "", 0, nil, "call", 0},
		{"none again", "", 0, []string{"call"}, "call~2", 3},
		{"any text", "a b\x00ä", 0, []string{"a b\x00ä"}, "a b\x00ä~2", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			used := map[string]bool{}
			for _, id := range tt.used {
				used[id] = true
			}
			got, next := state.UniqueCallID(tt.id, tt.from, func(id string) bool { return used[id] })
			if got != tt.want || next != tt.next {
				t.Errorf("%q, %d, want %q, %d", got, next, tt.want, tt.next)
			}
		})
	}
}

// Whatever a model proposes, no id comes twice and none is empty; and remembering where
// the numbering was changes the cost only.
func TestUniqueCallIDsOfAnySequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		proposed := rapid.SliceOf(rapid.SampledFrom([]string{"", "call", "call~2", "a", "a~2", "a~2~2", "a~3"})).Draw(t, "ids")
		used, next := map[string]bool{}, map[string]int{}
		taken := func(id string) bool { return used[id] }
		for _, id := range proposed {
			plain, _ := state.UniqueCallID(id, 0, taken)
			got, from := state.UniqueCallID(id, next[id], taken)
			if got == "" || used[got] || got != plain {
				t.Fatalf("%q of %q: %q, without memory %q", id, proposed, got, plain)
			}
			used[got], next[id] = true, from
		}
	})
}

// A thousand equal ids are numbered in one pass where the caller keeps the place.
func TestUniqueCallIDKeepsItsPlace(t *testing.T) {
	t.Parallel()
	used, asked, next := map[string]bool{}, 0, 0
	for n := range 1000 {
		var got string
		got, next = state.UniqueCallID("a", next, func(id string) bool { asked++; return used[id] })
		if want := fmt.Sprintf("a~%d", n+1); n > 0 && got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		used[got] = true
	}
	if asked > 2000 {
		t.Errorf("%d questions", asked)
	}
}

// BR-059: a session id can only be one harmless name.
func TestValidSessionID(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"../../evil", "/abs", "a/b", "..", "", "a\x00b", "a\nb", "проба-日本", ".hidden", "a b", "a\xff",
		strings.Repeat("a", 129), "@", "[", "`", "{", ":",
	} {
		if state.ValidSessionID(bad) {
			t.Errorf("%q accepted", bad)
		}
	}
	for _, good := range []string{"demo-1", "-rf", "A_z", "0", "9aZ", strings.Repeat("a", 128)} {
		if !state.ValidSessionID(good) {
			t.Errorf("%q refused", good)
		}
	}
}
