package tools

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"simplex/internal/text"
	"simplex/state"
)

// Confirm asks whoever may approve a call; reason is for a refusal.
type Confirm = func(ctx context.Context, call state.Call) (approved bool, reason string)

// Prepare routes a call to its tool and settles its arguments, at once and without
// any effect outside. It never fails: whatever was wrong with the call, run gives
// the record that says so. run gives exactly one record and never panics; it may be
// called once, on any goroutine. confirm may be nil, which refuses what would need
// it. A call that could not be settled comes back as it was made.
func (r *Registry) Prepare(call state.Call, confirm func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	rt := r.byName[call.Name]
	if rt == nil {
		r.logger.Debug("unknown tool called", "call", state.CallLabel(call))
		return failing(call, &Failure{Stage: StageDispatch, Message: unknownTool(call.Name, r.Names())})
	}
	settled, plan, failure := r.settle(rt, call)
	if failure != nil {
		return failing(call, failure)
	}
	exec := &execution{registry: r, route: rt, call: settled, plan: plan, confirm: confirm}
	return settled, exec.run
}

func failing(call state.Call, f *Failure) (state.Call, func(context.Context) state.Result) {
	return call, func(context.Context) state.Result { return f.record(call) }
}

func unknownTool(name string, valid []string) string {
	if len(valid) == 0 {
		return fmt.Sprintf("there is no tool %q, and none is offered", name)
	}
	return fmt.Sprintf("there is no tool %q%s; the valid names are: %s", clip(name), didYouMean(name, valid), strings.Join(valid, ", "))
}

// didYouMean suggests the nearest of the valid words, if one is near.
func didYouMean(word string, valid []string) string {
	near, ok := text.Nearest(word, valid)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// settle does the argument_parse stage. Type and security are written only when
// the arguments were good.
func (r *Registry) settle(rt *route, call state.Call) (settled state.Call, plan Plan, failure *Failure) {
	defer func() {
		if p := recover(); p != nil {
			failure = r.broken(rt, call, p)
		}
	}()
	args, err := newArguments(call.Arguments)
	if err != nil {
		return call, Plan{}, asFailure(StageArgumentParse, err)
	}
	if !rt.decl.Open {
		if err := args.refuseUnknown(rt.decl.Arguments(), rt.tool); err != nil {
			return call, Plan{}, asFailure(StageArgumentParse, err)
		}
	}
	plan, err = rt.tool.Prepare(args)
	if err == nil {
		err = args.Err()
	}
	if err != nil {
		return call, Plan{}, asFailure(StageArgumentParse, err)
	}
	settled = call
	settled.Arguments = args.object().Value
	settled.Type, settled.Security = plan.Type, plan.Security
	if settled.Type == "" {
		settled.Type = state.SerialWrite
	}
	if settled.Security == "" {
		settled.Security = state.RequireConfirm
	}
	return settled, plan, nil
}

// broken reports a panic of a set. The value goes to the log only by its type:
// it could hold anything.
func (r *Registry) broken(rt *route, call state.Call, p any) *Failure {
	r.logger.Error("toolset panicked", "set", rt.owner.set.Name(), "call", state.CallLabel(call),
		"panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
	return &Failure{Stage: StageUnknown, Message: fmt.Sprintf("toolset %q broke its contract: panic: %v", rt.owner.set.Name(), p)}
}

// execution is one settled call on its way to a record.
type execution struct {
	registry *Registry
	route    *route
	call     state.Call
	plan     Plan
	confirm  Confirm
}

func (e *execution) run(ctx context.Context) (out state.Result) {
	defer func() {
		if p := recover(); p != nil {
			out = e.registry.broken(e.route, e.call, p).record(e.call)
		}
	}()
	if reason := e.refused(ctx); reason != "" {
		return e.fail(StageSecurityCheck, "security check denied: "+reason)
	}
	if e.plan.Invoke == nil {
		return e.fail(StageInvoke, "the tool has nothing to run")
	}
	result, err := e.plan.Invoke(ctx)
	if err != nil {
		return asFailure(StageInvoke, err).record(e.call)
	}
	if e.plan.Check != nil {
		if result, err = e.plan.Check(result); err != nil {
			return asFailure(StageResultCheck, err).record(e.call)
		}
	}
	if result.Output.Type == "" {
		return e.fail(StageUnknown, fmt.Sprintf("toolset %q broke its contract: it answered nothing", e.route.owner.set.Name()))
	}
	return answering(e.call, result)
}

func (e *execution) fail(stage Stage, message string) state.Result {
	return (&Failure{Stage: stage, Message: message}).record(e.call)
}

// refused is the security check: "" lets the call pass.
func (e *execution) refused(ctx context.Context) (reason string) {
	switch e.call.Security {
	case state.Trusted:
		return ""
	case state.RequireConfirm:
		return e.ask(ctx)
	default:
		return "this tool may not be run here"
	}
}

func (e *execution) ask(ctx context.Context) (reason string) {
	if e.confirm == nil {
		return "nobody is there to confirm it"
	}
	defer func() {
		if p := recover(); p != nil {
			e.registry.logger.Error("confirmation panicked", "call", state.CallLabel(e.call),
				"panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			reason = "the confirmation failed"
		}
	}()
	approved, why := e.confirm(ctx, e.call)
	if approved {
		return ""
	}
	if why == "" {
		return "no reason was given"
	}
	return why
}
