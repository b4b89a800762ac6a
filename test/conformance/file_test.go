package conformance

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"simplex/test/conformance/rig"
)

// awaitFile waits until a command has made a file.
func awaitFile(t *testing.T, dir, name string) {
	t.Helper()
	ctx := rig.Deadline(t)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s did not appear", name)
		}
	}
}
