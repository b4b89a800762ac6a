//go:build crash

package crashworker

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

// formats are the words of persistence.format.
var formats = []string{"json", "sqlite"}

func TestMain(m *testing.M) {
	if format := os.Getenv(driverVariable); format != "" {
		runtime.LockOSThread() // strace counts calls by thread
		os.Exit(drive(format, os.Args[1], os.Args[2]))
	}
	os.Exit(rig.Main(m, false))
}

// need fails a test whose tools are missing.
func need(t *testing.T, tools ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("SKIPPED this needs root")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("SKIPPED %v", err)
		}
	}
}

// insideVariable says that this process has a mount namespace of its own: mounts of other
// programs must not keep an image alive after its umount.
const insideVariable = "CRASHWORKER_INSIDE_NAMESPACE"

// inside runs this test again in a mount namespace of its own.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		return true
	}
	need(t, "unshare", "strace")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.SplitN(t.Name(), "/", 2)[0]
	cmd := exec.Command("unshare", "-m", "--propagation", "private", self, "-test.run", "^"+name+"$", "-test.timeout", "20m")
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	return false
}
