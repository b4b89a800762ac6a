//go:build crash

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// reportVariable names the file that collects the figures, also from tests that run again
// in a namespace of their own.
const reportVariable = "CRASH_REPORT"

// report prints a line of figures now, and again at the end.
func report(tb testing.TB, format string, args ...any) {
	tb.Helper()
	line := fmt.Sprintf(format, args...) + "\n"
	fmt.Print(line)
	f, err := os.OpenFile(os.Getenv(reportVariable), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		tb.Fatal(err)
	}
}

// skipped is for a layer that cannot run here: it never passes in silence.
func skipped(tb testing.TB, layer string, why any) {
	tb.Helper()
	report(tb, "SKIPPED %s: %v", layer, why)
	tb.Fatalf("SKIPPED %s: %v", layer, why)
}

func TestMain(m *testing.M) { os.Exit(collected(m)) }

// collected runs the tests and ends with all figures together.
func collected(m *testing.M) int {
	if os.Getenv("TMPDIR") == "" {
		if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
			_ = os.Setenv("TMPDIR", "/dev/shm") // kills and errors need no disk, only power cuts do
		}
	}
	if os.Getenv(reportVariable) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "crash-report")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "figures")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
	_ = os.Setenv(reportVariable, path)
	code := m.Run()
	if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
		fmt.Printf("--- figures\n%s", text)
	}
	return code
}
