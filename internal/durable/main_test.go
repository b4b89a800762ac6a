package durable_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

// roleEnv makes this test binary play one of the children below instead of testing.
const roleEnv = "DURABLE_TEST_ROLE"

var children = map[string]func(args []string) error{
	"publish":   childPublish,
	"hold":      childHold,
	"full-disk": childFullDisk,
	"file-size": childFileSize,
}

func TestMain(m *testing.M) {
	child, ok := children[os.Getenv(roleEnv)]
	if !ok {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // one thread makes all calls, so a trace shows their order
	if err := child(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func childCommand(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	// Under the race detector a process sleeps for a second at its end unless told not to.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// The content is long enough for several writes, and a torn one cannot pass for whole.
var (
	oldContent = bytes.Repeat([]byte("old state\n"), 10_000)
	newContent = bytes.Repeat([]byte("the new state\n"), 20_000)
)

// writer gives content in pieces that do not fit the buffer evenly.
func writer(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for rest := content; len(rest) > 0; {
			n := min(len(rest), 7001)
			if _, err := w.Write(rest[:n]); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return nil
	}
}

// session is what a store does with its directory: open, lock, clean up, publish.
func session(root string, hook durable.Hook) error {
	dir, err := durable.Ops{Hook: hook}.OpenDir(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	release, err := dir.Lock(context.Background(), durable.LockConfig{Name: "session.lock"})
	if err != nil {
		return err
	}
	defer release()
	sub, err := dir.Sub("state")
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := sub.RemoveStale(); err != nil {
		return err
	}
	p, err := durable.NewPublisher(sub, "state.json")
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Publish(writer(newContent))
}

// childPublish runs a session and kills itself at entry of its n-th labelled call.
func childPublish(args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	n := 0
	return session(args[0], func(string, durable.Op) error {
		if n++; n == last {
			return killSelf()
		}
		return nil
	})
}

func killSelf() error {
	if err := unix.Kill(os.Getpid(), unix.SIGKILL); err != nil {
		return err
	}
	select {}
}

func mustPublish(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := durable.Publish(path, writer(content)); err != nil {
		t.Fatal(err)
	}
}

// mustPlace puts a file there without the cost of durability.
func mustPlace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustOpen(t *testing.T, path string) *durable.Dir {
	t.Helper()
	return mustOpenHooked(t, path, nil)
}

func mustOpenHooked(t *testing.T, path string, hook durable.Hook) *durable.Dir {
	t.Helper()
	dir, err := durable.Ops{Hook: hook}.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// wholeContent is "old" or "new"; anything else fails the test.
func wholeContent(t *testing.T, path string) string {
	t.Helper()
	switch raw := mustRead(t, path); {
	case bytes.Equal(raw, oldContent):
		return "old"
	case bytes.Equal(raw, newContent):
		return "new"
	default:
		t.Fatalf("%s is torn: %d bytes", path, len(raw))
		return ""
	}
}

func temps(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, durable.TempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(target, os.TempDir()) {
			n++
		}
	}
	return n
}
