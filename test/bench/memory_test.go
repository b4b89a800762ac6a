package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"simplex/process"
	"simplex/state"
	"simplex/tools"
	toolprocess "simplex/tools/process"
)

// childVariable in the environment makes the test binary a process that measures its own
// memory, apart from what benchmarks leave behind.
const childVariable = "SIMPLEX_BENCH_MEMORY"

// child prints its peak before and after an output that is cut, and how much a table of
// flooding sessions added to that.
func child() int {
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func measure() error {
	store, registry := process.NewStore(process.Config{}), tools.NewRegistry(nil)
	set, err := toolprocess.New(toolprocess.Config{Store: store})
	if err != nil {
		return err
	}
	if err := registry.Add(set); err != nil {
		return err
	}
	run := func(line string) error {
		v, err := state.ValueOf(args{"command": line, "expected_runtime_milliseconds": 60000})
		if err != nil {
			return err
		}
		_, run := registry.Prepare(state.Call{ID: "c", Name: "run_command", Arguments: v}, func(context.Context, state.Call) (bool, string) { return true, "" })
		if res := run(context.Background()); tools.IsError(res) {
			return errors.New(res.Output.Raw)
		}
		return nil
	}
	if err := run("echo warm"); err != nil {
		return err
	}
	before := peak()
	if err := run(cutLine); err != nil {
		return err
	}
	after := peak()
	var sessions []*process.Session
	for range process.DefaultMaxSessions {
		s, err := store.Spawn(context.Background(), process.ShellSpec("head -c 8388608 /dev/zero; head -c 8388608 /dev/zero >&2"))
		if err != nil {
			return err
		}
		sessions = append(sessions, s)
	}
	for _, s := range sessions {
		<-s.Complete()
	}
	fmt.Println(before, after, peak()-after)
	return registry.Shutdown(context.Background())
}

// peak is the largest resident set of this process, in bytes; 0 where it is not told.
func peak() int64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}

func TestPeakIsTold(t *testing.T) {
	t.Parallel()
	if got := peak(); got < 1<<20 || got > 1<<36 {
		t.Errorf("peak %d", got)
	}
}
