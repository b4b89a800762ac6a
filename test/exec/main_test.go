package exec

import (
	"fmt"
	"os"
	osexec "os/exec"
	"testing"

	"go.uber.org/goleak"

	"simplex/process/sandbox"
	"simplex/test/conformance/rig"
)

func TestMain(m *testing.M) {
	sandbox.ConfineMain(os.Args)
	code := rig.Main(m, rig.Race)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// long asks for the full sizes.
var long = os.Getenv("SIMPLEX_LONG") != ""

// sized is short, or full where the long forms are asked for.
func sized(short, full int) int {
	if long {
		return full
	}
	return short
}

// need skips a test whose program is not installed; on a CI machine it has to be.
func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := osexec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", p)
		}
		t.Skipf("%s is not installed", p)
	}
}
