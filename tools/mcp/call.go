package mcp

import (
	"context"
	"errors"
	"fmt"

	"simplex/internal/text"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/mcp/client"
)

// tool is one tool of the server.
type tool struct {
	server *server
	remote string // the server's name for it
	decl   tools.Declaration
	rule   Rule
}

func (t *tool) Declaration() tools.Declaration { return t.decl }

// Prepare hands the arguments on as they are, less those that are null. What they must
// be the server decides.
func (t *tool) Prepare(a *tools.Arguments) (tools.Plan, error) {
	names := t.decl.Arguments()
	if t.decl.Open {
		names = a.Names()
	}
	var members []state.Member
	for _, name := range names {
		if v, ok := a.Value(name); ok {
			members = append(members, state.Member{Name: name, Value: v})
		}
	}
	args := state.ObjectFrom(members)
	return tools.Plan{
		Type: t.rule.Type, Security: t.rule.Security,
		Invoke: func(ctx context.Context) (state.Result, error) { return t.invoke(ctx, args) },
	}, nil
}

// uncertain ends every message about a call without an answer.
const uncertain = "Whether the call took effect is unknown; it was not repeated"

func (t *tool) invoke(ctx context.Context, args state.Object) (state.Result, error) {
	c, err := t.server.live()
	if err != nil {
		return state.Result{}, err
	}
	limited, cancel := context.WithTimeout(ctx, t.server.cfg.CallTimeout)
	defer cancel()
	answer, err := c.session.CallTool(limited, t.remote, args.Bytes())
	if err != nil {
		return state.Result{}, t.failure(ctx, limited, c, err)
	}
	return mapResult(answer, t.server.cfg.MaxResultBytes)
}

// failure words why a call has no answer, or what the server answered instead.
func (t *tool) failure(ctx, limited context.Context, c *connection, err error) error {
	name := t.server.cfg.Name
	fail := func(format string, args ...any) error {
		return &tools.Failure{Message: fmt.Sprintf(format, args...)}
	}
	if answer, ok := errors.AsType[*client.Error](err); ok {
		return fail("the server of toolset %s refused the call: %s (code %d)", name, brief(answer.Message), answer.Code)
	}
	switch {
	case ctx.Err() != nil:
		return fail("the worker stopped before the server of toolset %s answered. %s", name, uncertain)
	case limited.Err() != nil:
		return fail("the server of toolset %s gave no answer within %d ms. %s", name, t.server.cfg.CallTimeout.Milliseconds(), uncertain)
	case errors.Is(err, client.ErrProtocol):
		return fail("the server of toolset %s was ended during the call: %s. %s", name, brief(err.Error()), uncertain)
	case c.ended():
		return fail("the server of toolset %s ended during the call. %s", name, uncertain)
	default:
		return fail("the call to the server of toolset %s failed: %s. %s", name, brief(err.Error()), uncertain)
	}
}

// ended tells whether this life is over, or ends within a moment.
func (c *connection) ended() bool { return c.program.Ending(c.session.Done()) || c.isOver() }

// isOver tells whether there is anybody to send a call to.
func (c *connection) isOver() bool {
	select {
	case <-c.session.Done():
		return true
	case <-c.program.Exited():
		return true
	default:
		return false
	}
}

// brief keeps a foreign message short and printable.
func brief(message string) string {
	const most = 4 << 10
	return text.Prefix(text.Display(message), most)
}
