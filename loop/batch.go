package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"simplex/state"
)

// job is a settled call and what makes its record.
type job struct {
	settled state.Call
	run     func(context.Context) state.Result
}

func (j job) serial() bool { return classOf(j.settled.Type) == state.SerialWrite }

// classOf takes every class that is not known to be harmless beside others as serial.
func classOf(t state.InvokeType) state.InvokeType {
	if t == state.ReadOnly || t == state.ParallWrite {
		return t
	}
	return state.SerialWrite
}

// runBatch settles all calls in call order, runs the serial ones one by one, then the
// others together, and gives one record per call in call order (§3.8).
func (r *run) runBatch(calls []state.Call) []state.Result {
	jobs := make([]job, len(calls))
	for i, c := range calls {
		jobs[i] = r.prepare(c)
	}
	records := make([]state.Result, len(calls))
	var running sync.WaitGroup
	for i, j := range jobs {
		if j.serial() {
			running.Go(func() { records[i] = r.record(j) })
			running.Wait()
		}
	}
	for i, j := range jobs {
		if !j.serial() {
			running.Go(func() { records[i] = r.record(j) })
		}
	}
	running.Wait()
	for i := range records {
		records[i] = corrected(records[i], jobs[i].settled)
	}
	return records
}

// prepare settles one call. Whatever Prepare does, the job is that call's.
func (r *run) prepare(call state.Call) (j job) {
	if r.cfg.Tools == nil {
		return refusal(call, stageDispatch, "no tools are offered here")
	}
	defer func() {
		if v := recover(); v != nil {
			r.logPanic("tool settling", call, v)
			j = refusal(call, stageUnknown, fmt.Sprintf("panic while the call was prepared: %v", v))
		}
	}()
	settled, run := r.cfg.Tools.Prepare(call, r.confirm)
	settled.ID, settled.Name = call.ID, call.Name
	settled.Type = classOf(settled.Type)
	if run == nil {
		return refusal(settled, stageUnknown, "the tool set gave nothing to run")
	}
	return job{settled, run}
}

func refusal(call state.Call, stage, message string) job {
	return job{call, func(context.Context) state.Result { return failureRecord(call, stage, message) }}
}

// record runs a job on its own goroutine. A goroutine that ends without a record
// leaves the zero one, which counts as missing.
func (r *run) record(j job) (rec state.Result) {
	defer func() {
		if v := recover(); v != nil {
			r.logPanic("tool", j.settled, v)
			rec = failureRecord(j.settled, stageUnknown, fmt.Sprintf("panic in the tool: %v", v))
		}
	}()
	return j.run(r.calm)
}

func (r *run) logPanic(what string, c state.Call, v any) {
	r.cfg.Logger.Error("panic", "in", what, "tool", c.Name, "call", c.ID,
		"kind", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
}

func (r *run) confirm(ctx context.Context, call state.Call) (bool, string) {
	if r.cfg.Confirm == nil {
		return false, "there is nobody to ask"
	}
	return r.cfg.Confirm(ctx, call)
}
