package archive

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const runID = "6f1c2a34-0b9d-4c1e-8f00-0123456789ab"

func TestName(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 2, 3, 6, 5, 6, 7, time.FixedZone("", 7200))
	got, err := name(7, at, runID)
	if want := "00000000000000000007-2031-02-03T040506Z-" + runID; err != nil || got != want || len(got) != NameLen {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "run-1", "6F1C2A34-0B9D-4C1E-8F00-0123456789AB", runID + "0", "../../../../../../../../../../../../etc"} {
		if _, err := name(1, at, bad); !errors.Is(err, ErrRunID) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := name(1, time.Date(12031, 1, 1, 0, 0, 0, 0, time.UTC), runID); !errors.Is(err, ErrName) {
		t.Errorf("a year of five digits: %v", err)
	}
}

func TestNextOrdinal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		want  uint64
	}{
		{nil, 1},
		{[]string{"00000000000000000007-anything", "00000000000000000003-"}, 8},
		{[]string{"00000000000000000007", "0000000000000000009-x", "x0000000000000000009-", "00000000000000000009_"}, 1},
		{[]string{"99999999999999999999-is-beyond-uint64", "00000000000000000002-x"}, 3},
		{[]string{"18446744073709551614-x"}, math.MaxUint64},
	} {
		if got, err := nextOrdinal(tt.names); err != nil || got != tt.want {
			t.Errorf("%q: %d, %v", tt.names, got, err)
		}
	}
	if _, err := nextOrdinal([]string{"18446744073709551615-x"}); !errors.Is(err, ErrExhausted) {
		t.Errorf("%v", err)
	}
}

// Recognised is the contract's regular expression.
func TestRecognised(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9]{20}-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	rapid.Check(t, func(t *rapid.T) {
		good := fmt.Sprintf("%020d-2031-02-03T040506Z-%s", rapid.Uint64().Draw(t, "ordinal"), runID)
		spoiled := []byte(good)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			spoiled[rapid.IntRange(0, len(spoiled)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0aAgTZ-/\n")).Draw(t, "byte")
		}
		text := string(spoiled) + rapid.SampledFrom([]string{"", "", "", "\n", "x"}).Draw(t, "tail")
		if Recognised(text) != form.MatchString(text) {
			t.Fatalf("%q: %v", text, Recognised(text))
		}
	})
}

func FuzzOrdinal(f *testing.F) {
	f.Add("00000000000000000007-2031-02-03T040506Z-" + runID)
	f.Add("99999999999999999999-")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := ordinalOf(text)
		if ok && fmt.Sprintf("%020d-", n) != text[:21] {
			t.Fatalf("%q gives %d", text, n)
		}
	})
}
