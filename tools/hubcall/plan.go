package hubcall

import (
	"context"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
	"simplex/wire"
)

func (s *Set) plan(a *tools.Arguments) (tools.Plan, error) {
	operation := a.RequireEnum("operation", "read", "replace")
	if operation == "read" {
		if a.Has("markdown") {
			a.Failf("markdown", "is only for operation \"replace\"")
		}
		return tools.Plan{Type: state.ReadOnly, Security: state.Trusted, Invoke: s.readPlan}, nil
	}
	markdown := a.RequireText("markdown")
	if len(markdown) > wire.MaxPlanMarkdown {
		a.Failf("markdown", "has %d bytes, more than %d; shorten the plan", len(markdown), wire.MaxPlanMarkdown)
	}
	return tools.Plan{
		Type: state.SerialWrite, Security: state.Trusted,
		Invoke: func(ctx context.Context) (state.Result, error) { return s.replacePlan(ctx, markdown) },
	}, nil
}

func (s *Set) readPlan(ctx context.Context) (state.Result, error) {
	o, err := s.caller.call(ctx, planRead(), arguments("operation", "read"))
	if err != nil {
		return state.Result{}, err
	}
	var bad error
	reply := readObject(o, "", &bad)
	revision := planRevision(reply)
	markdown := reply.text("markdown", wire.MaxPlanMarkdown)
	if bad != nil {
		return state.Result{}, planRead().unusable(bad)
	}
	var text result.Text
	r := text.Record()
	r.Uint("revision", revision)
	r.Block("plan", markdown)
	return state.Result{Output: text.Content()}, nil
}

func (s *Set) replacePlan(ctx context.Context, markdown string) (state.Result, error) {
	o, err := s.caller.call(ctx, planReplace(), arguments("operation", "replace", "markdown", markdown))
	if err != nil {
		return state.Result{}, err
	}
	var bad error
	reply := readObject(o, "", &bad)
	revision := planRevision(reply)
	changed := reply.boolean("changed")
	if bad != nil {
		return state.Result{}, planReplace().unusable(bad)
	}
	status := "unchanged: the plan was the same already"
	if changed {
		status = "updated"
	}
	var text result.Text
	r := text.Record()
	r.Uint("revision", revision)
	r.String("status", status)
	return state.Result{Output: text.Content()}, nil
}

// planRevision also checks the time, which is not shown.
func planRevision(reply object) uint64 {
	if _, there := reply.members["updated_at"]; !there {
		reply.fail("updated_at", "is missing")
	}
	reply.nullable("updated_at", wire.MaxID, false)
	return reply.count("revision")
}
