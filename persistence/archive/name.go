package archive

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Errors of names.
var (
	// ErrExhausted: the highest ordinal is taken.
	ErrExhausted = errors.New("archive ordinals are exhausted")
	// ErrRunID: the run id is no lowercase UUID, so that the archive would not be recognised.
	ErrRunID = errors.New("run id is no lowercase UUID")
	// ErrName: not the name of an archive.
	ErrName = errors.New("not an archive name")
)

const (
	ordinalLen = 20
	stampLen   = len(stampForm)
	uuidLen    = 36
	stampForm  = "2006-01-02T150405Z"

	// NameLen is the length of every archive name in bytes.
	NameLen = ordinalLen + 1 + stampLen + 1 + uuidLen
)

// name puts an archive's name together.
func name(ordinal uint64, now time.Time, runID string) (string, error) {
	n := fmt.Sprintf("%020d-%s-%s", ordinal, now.UTC().Format(stampForm), runID)
	if !isUUID(runID) {
		return "", fmt.Errorf("%w: %q", ErrRunID, runID)
	}
	if !Recognised(n) {
		return "", fmt.Errorf("%w: %q", ErrName, n) // a year beyond 9999
	}
	return n, nil
}

// Recognised tells whether a name has the form of an archive's:
// ^[0-9]{20}-[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z-<lowercase uuid>$.
func Recognised(name string) bool {
	const form = "dddddddddddddddddddd-dddd-dd-ddTddddddZ-"
	return len(name) == NameLen && fits(name[:len(form)], form) && isUUID(name[len(form):])
}

func isUUID(s string) bool { return fits(s, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") }

// fits compares s with a form in which d is a digit and x a lowercase hex digit.
func fits(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		digit := c >= '0' && c <= '9'
		switch form[i] {
		case 'd':
			if !digit {
				return false
			}
		case 'x':
			if !digit && (c < 'a' || c > 'f') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

// ordinalOf reads the ordinal that an entry's name takes, whatever the entry is.
func ordinalOf(name string) (uint64, bool) {
	if len(name) <= ordinalLen || name[ordinalLen] != '-' || !fits(name[:ordinalLen], "dddddddddddddddddddd") {
		return 0, false
	}
	n, err := strconv.ParseUint(name[:ordinalLen], 10, 64)
	return n, err == nil
}

// nextOrdinal is one more than the highest that is taken.
func nextOrdinal(names []string) (uint64, error) {
	highest := uint64(0)
	for _, n := range names {
		if taken, ok := ordinalOf(n); ok {
			highest = max(highest, taken)
		}
	}
	if highest == math.MaxUint64 {
		return 0, ErrExhausted
	}
	return highest + 1, nil
}
