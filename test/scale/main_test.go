package scale

import (
	"os"
	"testing"

	"simplex/test/conformance/rig"
)

// TestMain takes the binary without the race detector: its times are compared.
func TestMain(m *testing.M) { os.Exit(rig.Main(m, false)) }
