package load

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// TestPathsOfADescriptor: what is piped in has no directory, so its relative paths start
// at the working directory.
func TestPathsOfADescriptor(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.WriteString(w, "driver_model: m\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h}\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	cfg, err := Load(filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd()))), Options{})
	here, _ := filepath.Abs("data/session")
	if err != nil || cfg.Persistence.Directory != here {
		t.Errorf("%v, %v", cfg, err)
	}
}
