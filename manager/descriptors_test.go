package manager

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// However few files a process may open, it answers, and what it refuses it has not begun.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{8, 14, 16, 20, 24} {
		p := newPlace(t)
		child := childCommand(t, p.prepareRequest("a"), 0)
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0"`, limit), self)
		cmd.Env = child.Env
		out, err := cmd.Output()
		if err == nil || !strings.Contains(string(out), `"io_error"`) || !strings.Contains(string(out), "too many open files") {
			t.Errorf("%d: %v: %s", limit, err, out)
		}
		if entries, err := os.ReadDir(p.root); err != nil || len(entries) > 0 {
			t.Errorf("%d: %v, %v", limit, entries, err)
		}
	}
}
