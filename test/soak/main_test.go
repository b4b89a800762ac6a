package soak

import (
	"os"
	"testing"

	"simplex/test/conformance/rig"
)

// TestMain takes the binary without the race detector: its memory and time are measured.
func TestMain(m *testing.M) { os.Exit(rig.Main(m, false)) }

// long tells whether the long forms were asked for.
func long() bool { return os.Getenv("SIMPLEX_SOAK") != "" }

// pick gives the value for the form that runs.
func pick[T any](short, soak T) T {
	if long() {
		return soak
	}
	return short
}
