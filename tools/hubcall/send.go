package hubcall

import (
	"context"
	"fmt"
	"slices"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// maxSend is the most that the arguments of a send may have, in bytes of JSON.
const maxSend = 64 << 10

func (s *Set) send(a *tools.Arguments) (tools.Plan, error) {
	id := requireID(a)
	operation := a.RequireEnum("operation", "message", "continue", "compact", "stop")
	members := []state.Member{
		{Name: "subagent_id", Value: state.StringValue(id)},
		{Name: "operation", Value: state.StringValue(operation)},
	}
	if v, ok := sentContent(a, operation); ok {
		members = append(members, state.Member{Name: "content", Value: v})
	}
	if v, ok := sentOptions(a, operation); ok {
		members = append(members, state.Member{Name: "options", Value: v})
	}
	args := state.ObjectFrom(members)
	if n := len(args.String()); a.Err() == nil && n > maxSend {
		return tools.Plan{}, fmt.Errorf("the arguments have %d bytes of JSON, more than %d; put long texts into a file that the subagent can read", n, maxSend)
	}
	return tools.Plan{
		Type: state.SerialWrite, Security: state.Trusted,
		Invoke: func(ctx context.Context) (state.Result, error) { return s.runSend(ctx, id, operation, args) },
	}, nil
}

// sentContent checks the content, which a message needs and nothing else may have.
func sentContent(a *tools.Arguments, operation string) (state.Value, bool) {
	v, ok := a.Value("content")
	if operation != "message" {
		if ok {
			a.Failf("content", "is only for operation \"message\"")
		}
		return v, false
	}
	items, isList := v.Items()
	switch {
	case !ok:
		a.Failf("content", "is required for operation \"message\"")
	case !isList:
		a.Failf("content", "must be a list of objects")
	case len(items) == 0:
		a.Failf("content", "must have at least one element")
	}
	for i, item := range items {
		if err := checkItem(item); err != nil {
			a.Failf("content", "element %d %w", i, err)
		}
	}
	return v, true
}

// checkItem checks one content part.
func checkItem(item state.Value) error {
	o, err := item.Object()
	if err != nil {
		return fmt.Errorf("must be an object")
	}
	if err := onlyFields(o, "type", "modality", "raw", "extras"); err != nil {
		return err
	}
	for name, words := range map[string][]string{
		"type":     {"text", "binary", "external_ref"},
		"modality": {"text", "image", "audio", "video", "document"},
	} {
		v, _ := o.Get(name)
		if s, _ := v.Text(); !slices.Contains(words, s) {
			return fmt.Errorf("must have a %s, one of %q", name, words)
		}
	}
	raw, _ := o.Get("raw")
	if s, _ := raw.Text(); s == "" {
		return fmt.Errorf("must have a raw, a nonempty string")
	}
	if extras, ok := o.Get("extras"); ok {
		if _, err := extras.Object(); err != nil {
			return fmt.Errorf("has extras that are no object")
		}
	}
	return nil
}

// sentOptions checks the options, which a stop may not have.
func sentOptions(a *tools.Arguments, operation string) (state.Value, bool) {
	v, ok := a.Value("options")
	if !ok {
		return v, false
	}
	if operation == "stop" {
		a.Failf("options", "is not for operation \"stop\"")
	}
	o, err := v.Object()
	if err != nil {
		a.Failf("options", "must be an object")
		return v, false
	}
	if err := onlyFields(o, "model", "tools"); err != nil {
		a.Failf("options", "%w", err)
	}
	if model, ok := o.Get("model"); ok && model.Kind() != '{' {
		a.Failf("options", "must have an object as model")
	}
	if list, ok := o.Get("tools"); ok && list != state.EmptyObject().Value {
		a.Failf("options", "must have {} as tools, or none")
	}
	return v, true
}

func (s *Set) runSend(ctx context.Context, id, operation string, args state.Object) (state.Result, error) {
	o, err := s.caller.call(ctx, subagentSend(), args)
	if err != nil {
		return state.Result{}, err
	}
	var bad error
	reply := readObject(o, "", &bad)
	if got := reply.subagentID(); got != id {
		reply.fail("subagent_id", "is another one")
	}
	reply.word("operation", operation)
	var text result.Text
	r := text.Record()
	r.String("subagent_id", id)
	r.String("operation", operation)
	if operation == "stop" {
		r.String("operation_id", reply.id("operation_id"))
		r.String("state", reply.word("state", "stopping"))
		r.String("hint", "it is being ended and its records will be deleted; subagent_receive shows when it is stopped")
	} else {
		r.String("request_id", reply.id("request_id"))
		reached := reply.word("state", "sent", "rejected", "unknown")
		r.String("state", reached)
		r.String("hint", sendHint(reached))
	}
	if reply.has("replayed") {
		r.Bool("replayed", reply.boolean("replayed"))
	}
	if bad != nil {
		return state.Result{}, subagentSend().unusable(bad)
	}
	return state.Result{Output: text.Content()}, nil
}

// sendHint is for what is not plainly sent.
func sendHint(reached string) string {
	switch reached {
	case "rejected":
		return "the subagent did not take it; subagent_receive may say why"
	case "unknown":
		return "it is not known whether the subagent got it; look with subagent_receive before you send it again"
	}
	return ""
}
