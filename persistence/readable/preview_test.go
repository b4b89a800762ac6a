package readable

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"simplex/state"
)

func TestPreview(t *testing.T) {
	t.Parallel()
	array := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	lines := func(n int) string { return strings.Repeat("\n  1,", n-1) + "\n  1" }
	for _, tt := range []struct {
		name, value, want string
		lost              int
	}{
		{"scalar", `1.50`, "1.50", 0},
		{"empty", `{"a":[],"b":{}}`, "{\n  \"a\": [],\n  \"b\": {}\n}", 0},
		{"nested", `{"b":[true,null],"a":"x"}`, "{\n  \"a\": \"x\",\n  \"b\": [\n    true,\n    null\n  ]\n}", 0},
		{"32 items", array(32), "[" + lines(32) + "\n]", 0},
		{"33 items", array(33), "[" + lines(32) + "\n  ... [1 entries omitted]\n]", 0},
		{"long string", `"` + strings.Repeat("x", 1030) + `"`, `"` + strings.Repeat("x", 1024) + `... [6 bytes omitted]"`, 0},
		{"whole characters", `"x` + strings.Repeat("€", 342) + `"`, `"x` + strings.Repeat("€", 341) + `... [3 bytes omitted]"`, 0},
		{"long key", `{"` + strings.Repeat("k", 1025) + `":1}`, "{\n  \"" + strings.Repeat("k", 1024) + "... [1 bytes omitted]\": 1\n}", 0},
		{"depth", `[[[[[[[1,2]]]]]]]`, "[\n  [\n    [\n      [\n        [\n          [\n            [[omitted: depth limit, 2 entries]]\n          ]\n        ]\n      ]\n    ]\n  ]\n]", 0},
		{"block", `["` + strings.Repeat(`a`, 1000) + `"` + strings.Repeat(`,"`+strings.Repeat("b", 1000)+`"`, 9) + `]`, "", 10*1002 + 9 + 10*3 + 3 - DefaultBlock},
	} {
		v, err := state.ParseValue([]byte(tt.value))
		if err != nil {
			t.Fatal(err)
		}
		got, lost := previewOf(v, Limits{DefaultString, DefaultItems, DefaultDepth, DefaultBlock})
		if lost != tt.lost || tt.want != "" && string(got) != tt.want {
			t.Errorf("%s: %d lost\n got %.300s\nwant %.300s", tt.name, lost, got, tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	st := state.New("s", time.Unix(0, 0))
	for _, bad := range []Limits{{String: -1}, {Items: -1}, {Depth: 65}, {Block: 63}} {
		if err := Write(io.Discard, st, bad); !errors.Is(err, ErrLimits) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := Write(io.Discard, st, Limits{String: 1, Items: 1, Depth: 64, Block: 64}); err != nil {
		t.Error(err)
	}
}

// A preview stays in its block, is UTF-8, and what it shows and what it lost add up.
func TestPreviewBlock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		leaf := state.StringValue(strings.Repeat(rapid.SampledFrom([]string{"x", "€", "\U0001F600", "\n"}).Draw(t, "filler"), rapid.IntRange(0, 500).Draw(t, "length")))
		for range rapid.IntRange(0, 5).Draw(t, "levels") {
			var members []state.Member
			for range rapid.IntRange(0, 5).Draw(t, "width") {
				members = append(members, state.Member{Name: rapid.String().Draw(t, "key"), Value: leaf})
			}
			leaf = state.ObjectFrom(members).Value
		}
		whole, none := previewOf(leaf, Limits{1024, 32, 6, 1 << 30})
		block := rapid.IntRange(64, 4096).Draw(t, "block")
		cut, lost := previewOf(leaf, Limits{1024, 32, 6, block})
		if none != 0 || len(cut) > block || !utf8.Valid(cut) || len(cut)+lost != len(whole) || !strings.HasPrefix(string(whole), string(cut)) {
			t.Fatalf("%d of %d bytes shown, %d lost, block %d", len(cut), len(whole), lost, block)
		}
	})
}
