package sqlitestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

// roleEnv makes this test binary play one of the children below instead of testing.
const roleEnv = "SQLITESTORE_TEST_ROLE"

var children = map[string]func(args []string) error{
	"nobody": childNobody,
	"save":   childSave,
	"many":   childMany,
	"own":    childOwn,
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

func childEnv(role string) []string {
	// Under the race detector a process sleeps for a second at its end unless told not to.
	return append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
}

func childCommand(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = childEnv(role)
	return cmd
}

func config(root string) sqlitestore.Config {
	return sqlitestore.Config{Root: root, SessionID: storetest.SessionID, LockWait: -1}
}

func statePath(root string) string { return filepath.Join(root, "state", sqlitestore.StateFile) }

func mustOpen(t testing.TB, cfg sqlitestore.Config) *sqlitestore.Store {
	t.Helper()
	store, err := sqlitestore.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func mustSave(t testing.TB, store *sqlitestore.Store, st *state.State, b persistence.Boundary) {
	t.Helper()
	if err := store.Save(t.Context(), st, b); err != nil {
		t.Fatal(err)
	}
}

// mustSaveIn saves st twice, so that the log was used, and closes in order.
func mustSaveIn(t testing.TB, root string, st *state.State) {
	t.Helper()
	store := mustOpen(t, config(root))
	mustSave(t, store, st, persistence.StepFinished)
	mustSave(t, store, st, persistence.RunFinished)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// load opens the session anew and loads it.
func load(t testing.TB, root string) (*state.State, error) {
	t.Helper()
	store, err := sqlitestore.Open(config(root))
	if err != nil {
		return nil, err
	}
	st, err := store.Load(t.Context())
	return st, errors.Join(err, store.Close())
}

func mustLoad(t testing.TB, root string) *state.State {
	t.Helper()
	st, err := load(t, root)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// mustRead reads the document that the manager would get, in the JSON store's form.
func mustRead(t *testing.T, path string) (string, sqlitestore.Info) {
	t.Helper()
	var out bytes.Buffer
	info, err := sqlitestore.Read(t.Context(), path, &out)
	if err != nil {
		t.Fatal(err)
	}
	st, err := state.Decode(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Text(t, st), info
}

// names lists the state directory.
func names(t testing.TB, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "state"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func mustBe(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// toolTurn adds a turn as the loop does and saves at its boundaries: the call is asked
// for, its result is there, it is projected, the answer is given. saved is told of each
// save that succeeded.
func toolTurn(st *state.State, save func(persistence.Boundary) error, size int) error {
	n := len(st.Turns)
	text := func(part string) string {
		return fmt.Sprintf("%s %d: %s", part, n, strings.Repeat("ñ lorem ipsum ", size/56))
	}
	st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", text("turn"))})
	call := state.Call{ID: "call_" + strconv.Itoa(n), Name: "run_command", Arguments: state.StringValue(text("arguments"))}
	asking := state.NewTextMessage(state.ModelResponse, "assistant", "")
	asking.Calls, asking.CallsSet = []state.Call{call}, true
	asking.Cost = &state.TokenCost{Prompt: uint64(n), Generated: 7}
	step := &state.Step{ModelResponse: asking, CommitSequence: uint64(2*n + 1)}
	st.AppendStep(step)
	st.Loop = &state.LoopProgress{Status: state.StatusRunning, Phase: state.PhaseTools, CommittedSequence: uint64(2*n + 1)}
	if err := save(persistence.BeforeTools); err != nil {
		return err
	}
	result := state.Result{Call: call, Output: state.TextContent(text("output"))}
	loop := *st.Loop
	loop.Phase, loop.Pending = state.PhaseProjection, []state.Result{result}
	st.Loop = &loop
	if err := save(persistence.ResultsReady); err != nil {
		return err
	}
	done := *step
	done.Returns, done.ReturnsSet = []*state.Message{state.NewResultMessage(result)}, true
	st.ReplaceLastStep(&done)
	loop = *st.Loop
	loop.Phase, loop.Pending = state.PhaseReady, nil
	st.Loop = &loop
	st.Meta.UpdatedAt = "2026-01-02T03:04:06Z"
	if err := save(persistence.StepFinished); err != nil {
		return err
	}
	st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", text("answer")), CommitSequence: uint64(2*n + 2)})
	return save(persistence.RunFinished)
}

// worker loads, runs turns and saves at every boundary. It tells each save before and
// after on out.
func worker(root string, turns int, hook durable.Hook, out io.Writer) error {
	cfg := config(root)
	cfg.Hook = hook
	store, err := sqlitestore.Open(cfg)
	if err != nil {
		return err
	}
	st, err := store.Load(context.Background())
	if err != nil {
		return errors.Join(err, store.Close())
	}
	if st == nil {
		st = storetest.Session(0)
	}
	saves := 0
	for range turns {
		err := toolTurn(st, func(b persistence.Boundary) error {
			if err := store.Save(context.Background(), st, b); err != nil {
				return err
			}
			saves++
			_, err := fmt.Fprintln(out, saves)
			return err
		}, 400)
		if err != nil {
			return errors.Join(err, store.Close())
		}
	}
	return store.Close()
}

// childSave runs one turn and kills itself at entry of its n-th labelled call.
func childSave(args []string) error {
	last, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	n := 0
	return worker(args[0], 1, func(string, durable.Op) error {
		if n++; n < last {
			return nil
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return err
		}
		select {}
	}, os.Stdout)
}

// childMany runs many turns.
func childMany(args []string) error {
	turns, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return worker(args[0], turns, nil, os.Stdout)
}

// childOwn loads the session, tells how that went and keeps it until its input ends.
func childOwn(args []string) error {
	store, err := sqlitestore.Open(config(args[0]))
	if err != nil {
		return err
	}
	if _, err := store.Load(context.Background()); err != nil {
		return err
	}
	fmt.Println("mine")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return store.Close()
}

// childNobody gives up root's privileges and tells how the session can be used without.
func childNobody(args []string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return err
		}
	}
	var doc bytes.Buffer
	_, err := sqlitestore.Read(context.Background(), statePath(args[0]), &doc)
	fmt.Printf("read: %v, %d bytes\n", err, doc.Len())
	store, err := sqlitestore.Open(config(args[0]))
	if err != nil {
		fmt.Printf("open: denied %v\n", errors.Is(err, syscall.EACCES))
		return nil
	}
	_, err = store.Load(context.Background())
	fmt.Printf("load: read-only %v\n", errors.Is(err, sqlitestore.ErrReadOnly))
	return store.Close()
}

// memory is a directory where an fsync costs nothing, if there is one.
func memory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// memoryDir is a directory of the test there. What a kill leaves does not depend on the
// disk, for the kernel lives on.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory(), "sqlitestore-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
