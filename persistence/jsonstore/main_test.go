package jsonstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/storetest"
	"simplex/state"
)

// roleEnv makes this test binary play one of the children below instead of testing.
const roleEnv = "JSONSTORE_TEST_ROLE"

var children = map[string]func(args []string) error{
	"save":   childSave,
	"own":    childOwn,
	"nobody": childNobody,
}

func TestMain(m *testing.M) {
	child, ok := children[os.Getenv(roleEnv)]
	if !ok {
		os.Exit(m.Run())
	}
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

func config(root string) jsonstore.Config {
	return jsonstore.Config{Root: root, SessionID: storetest.SessionID, LockWait: -1}
}

func statePath(root string) string { return filepath.Join(root, "state", jsonstore.StateFile) }

func mustOpen(t *testing.T, cfg jsonstore.Config) *jsonstore.Store {
	t.Helper()
	store, err := jsonstore.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func mustSaveIn(t *testing.T, root string, st *state.State) {
	t.Helper()
	store := mustOpen(t, config(root))
	defer store.Close()
	if err := store.Save(t.Context(), st, persistence.RunFinished); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func temps(t *testing.T, root string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "state", durable.TempPrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// session loads, adds a turn and saves, as a worker does.
func session(root string, hook durable.Hook) error {
	cfg := config(root)
	cfg.Hook = hook
	store, err := jsonstore.Open(cfg)
	if err != nil {
		return err
	}
	defer store.Close()
	st, err := store.Load(context.Background())
	if err != nil {
		return err
	}
	if st == nil {
		st = storetest.Session(0)
	}
	storetest.AddTurn(st, fmt.Sprintf("turn %d", len(st.Turns)))
	return store.Save(context.Background(), st, persistence.RunFinished)
}

// childSave runs a session and kills itself at entry of its n-th labelled call.
func childSave(args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	n := 0
	return session(args[0], func(string, durable.Op) error {
		if n++; n < last {
			return nil
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return err
		}
		select {}
	})
}

// childOwn opens the session, tells how that went and keeps it until its input ends.
func childOwn(args []string) error {
	store, err := jsonstore.Open(config(args[0]))
	if err != nil {
		return err
	}
	fmt.Println("mine")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return store.Close()
}

// childNobody opens the session without root's privileges and wants a refusal.
func childNobody(args []string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return err
		}
	}
	store, err := jsonstore.Open(config(args[0]))
	if err == nil {
		_ = store.Close()
		return errors.New("a state directory without write permission was accepted")
	}
	if !errors.Is(err, syscall.EACCES) {
		return err
	}
	return nil
}
