package bench

import (
	"context"
	"io"
	"os/exec"
	"sync"
	"testing"

	"simplex/process"
	"simplex/process/kin"
	"simplex/state"
	"simplex/tools"
	toolprocess "simplex/tools/process"
	"simplex/tools/reading"
)

// bench is a registry with the process and the reading tools, as the worker has it: with
// a reaper.
type bench struct {
	tb       testing.TB
	store    *process.Store
	registry *tools.Registry
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	reaper, err := kin.EnableSubreaper(nil)
	must(tb, err)
	x := &bench{tb: tb, store: process.NewStore(process.Config{Reaper: reaper}), registry: tools.NewRegistry(nil)}
	set, err := toolprocess.New(toolprocess.Config{Store: x.store})
	must(tb, err)
	must(tb, x.registry.Add(set))
	files, err := reading.New(reading.Config{})
	must(tb, err)
	must(tb, x.registry.Add(files))
	tb.Cleanup(func() {
		must(tb, x.registry.Shutdown(context.Background()))
		must(tb, reaper.Close())
	})
	return x
}

// args are the arguments of a call.
type args = map[string]any

// batch runs calls as the loop does: settled in order, serial ones first, then the
// parallel ones together.
func (x *bench) batch(name string, list ...args) []string {
	x.tb.Helper()
	texts := make([]string, len(list))
	var parallel []func()
	for i, a := range list {
		v, err := state.ValueOf(a)
		must(x.tb, err)
		call, run := x.registry.Prepare(state.Call{ID: "c", Name: name, Arguments: v}, func(context.Context, state.Call) (bool, string) { return true, "" })
		do := func() {
			res := run(context.Background())
			if tools.IsError(res) {
				x.tb.Errorf("%s: %s", name, res.Output.Raw)
			}
			texts[i] = res.Output.Raw
		}
		if call.Type == state.ReadOnly || call.Type == state.ParallWrite {
			parallel = append(parallel, do)
			continue
		}
		do()
	}
	var wg sync.WaitGroup
	for _, do := range parallel {
		wg.Go(do)
	}
	wg.Wait()
	return texts
}

// drained runs a program in the store until it is complete, and releases it.
func (x *bench) drained(spec process.LaunchSpec) {
	x.tb.Helper()
	s, err := x.store.Spawn(context.Background(), spec)
	must(x.tb, err)
	<-s.Complete()
	if code := s.Snapshot().ExitCode; code == nil || *code != 0 {
		x.tb.Errorf("%v ended badly", spec.Arguments)
	}
	must(x.tb, x.store.Release(s.ID()))
}

// counter is the cheapest writer.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

// counted runs a program by os/exec, and checks how much it printed.
func counted(tb testing.TB, want int, name string, arguments ...string) {
	tb.Helper()
	cmd := exec.Command(name, arguments...)
	out := &counter{}
	cmd.Stdout, cmd.Stderr = out, &counter{}
	if err := cmd.Run(); err != nil || out.n != int64(want) {
		tb.Errorf("%s: %v, %d bytes", name, err, out.n)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
