package tools

import (
	"context"

	"simplex/state"
)

// Set is a toolset, the unit of registration. Its answers must not change once it
// has been added to a Registry.
type Set interface {
	// Name identifies the set in messages and logs.
	Name() string
	// Tools lists the tools that could be built, in catalogue order.
	Tools() []Tool
	// Skill is the set's text for the system prompt; nil when it has none.
	Skill() *Skill
	// Groups names the tools that are useful only together.
	Groups() []Group
	// Shutdown releases what the set holds. It is called once.
	Shutdown(ctx context.Context) error
}

// Tool is one callable tool.
type Tool interface {
	// Declaration is what the model and the registry know of the tool.
	Declaration() Declaration
	// Prepare checks the arguments, settles them, and says how the call is to be
	// scheduled, guarded and run. It has no effect outside args and must not block.
	// Its errors are argument errors. Unknown arguments were refused before.
	Prepare(args *Arguments) (Plan, error)
}

// Retirer is implemented by a tool that refuses arguments it once had.
type Retirer interface {
	// Retired gives the advice for an argument that is no longer taken.
	Retired(argument string) (advice string, ok bool)
}

// Plan is a settled call, ready to be executed.
type Plan struct {
	// Type is the scheduling class, by the effects outside the host; empty is
	// serial_write.
	Type state.InvokeType
	// Security decides whether somebody is asked; empty is require_confirm.
	Security state.InvokeSecurity
	// Invoke does the work, and may be called from any goroutine. The Call of its
	// result is left out: it is filled in by the registry. A *Failure may name more
	// than the message; every other error is reported by its text. nil refuses.
	Invoke func(ctx context.Context) (state.Result, error)
	// Check is the last look at the record; nil takes it as it is.
	Check func(state.Result) (state.Result, error)
}

// Group is a named list of tools that are only useful together (§1.2). It is for
// reporting: the tools of an incomplete group stay offered.
type Group struct {
	Name  string
	Tools []string
}

// GroupStatus says how much of a group is registered.
type GroupStatus struct {
	Set        string
	Name       string
	Registered []string
	Missing    []string
}
