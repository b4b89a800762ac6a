package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"simplex/state"
)

// Errors of registration, for errors.Is.
var (
	// ErrInvalidSet: a nil set, a tool without a name, or a name twice in one set.
	ErrInvalidSet = errors.New("invalid toolset")
	// ErrNameTaken: another set already has a tool of that name.
	ErrNameTaken = errors.New("tool name is taken")
)

// Registry knows every tool of a session by its name. It must not be copied.
type Registry struct {
	logger *slog.Logger
	sets   []*entry
	byName map[string]*route
}

// entry is one registered set with its tools as they were when it was added.
type entry struct {
	set   Set
	tools []*route
}

// route leads from a tool name to the tool and the set that owns it.
type route struct {
	decl  Declaration
	tool  Tool
	owner *entry
}

// NewRegistry makes an empty registry; a nil logger discards.
func NewRegistry(logger *slog.Logger) *Registry {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Registry{logger: logger, byName: map[string]*route{}}
}

// Add registers a whole set or nothing of it. It is for start-up: it must not run
// beside Prepare.
func (r *Registry) Add(set Set) error {
	if set == nil {
		return fmt.Errorf("add toolset: %w: it is nil", ErrInvalidSet)
	}
	e := &entry{set: set}
	own := map[string]bool{}
	for _, t := range set.Tools() {
		if t == nil {
			return fmt.Errorf("add toolset %q: %w: a tool is nil", set.Name(), ErrInvalidSet)
		}
		rt := &route{decl: t.Declaration(), tool: t, owner: e}
		name := rt.decl.Name
		switch owner := r.byName[name]; {
		case name == "":
			return fmt.Errorf("add toolset %q: %w: a tool has no name", set.Name(), ErrInvalidSet)
		case own[name]:
			return fmt.Errorf("add toolset %q: %w: tool %q appears twice", set.Name(), ErrInvalidSet, name)
		case owner != nil:
			return fmt.Errorf("add toolset %q: %w: %q belongs to toolset %q",
				set.Name(), ErrNameTaken, name, owner.owner.set.Name())
		}
		own[name] = true
		e.tools = append(e.tools, rt)
	}
	r.sets = append(r.sets, e)
	for _, rt := range e.tools {
		r.byName[rt.decl.Name] = rt
	}
	r.reportGroups(e)
	return nil
}

// Remove drops the whole set that owns the tool of that name and shuts it down. An
// unknown name removes nothing.
func (r *Registry) Remove(ctx context.Context, tool string) error {
	rt := r.byName[tool]
	if rt == nil {
		return nil
	}
	for _, member := range rt.owner.tools {
		delete(r.byName, member.decl.Name)
	}
	r.sets = slices.DeleteFunc(r.sets, func(e *entry) bool { return e == rt.owner })
	return rt.owner.set.Shutdown(ctx)
}

// Catalogue lists what is offered to the model: sets in the order they were added,
// each with its tools in its own order.
func (r *Registry) Catalogue() []state.Tool {
	var out []state.Tool
	for _, e := range r.sets {
		for _, rt := range e.tools {
			out = append(out, rt.decl.Offer())
		}
	}
	return out
}

// Names lists the tool names in catalogue order.
func (r *Registry) Names() []string {
	var out []string
	for _, e := range r.sets {
		for _, rt := range e.tools {
			out = append(out, rt.decl.Name)
		}
	}
	return out
}

// Skills lists the skills of the sets, in the order the sets were added.
func (r *Registry) Skills() []Skill {
	var out []Skill
	for _, e := range r.sets {
		if skill := e.set.Skill(); skill != nil {
			out = append(out, *skill)
		}
	}
	return out
}

// Groups says of every capability group which of its tools are registered now.
func (r *Registry) Groups() []GroupStatus {
	var out []GroupStatus
	for _, e := range r.sets {
		out = append(out, r.groupsOf(e)...)
	}
	return out
}

func (r *Registry) groupsOf(e *entry) []GroupStatus {
	var out []GroupStatus
	for _, g := range e.set.Groups() {
		status := GroupStatus{Set: e.set.Name(), Name: g.Name}
		for _, name := range g.Tools {
			if r.byName[name] != nil {
				status.Registered = append(status.Registered, name)
			} else {
				status.Missing = append(status.Missing, name)
			}
		}
		out = append(out, status)
	}
	return out
}

func (r *Registry) reportGroups(e *entry) {
	for _, g := range r.groupsOf(e) {
		switch present := len(g.Registered); {
		case len(g.Missing) == 0:
		case present == 0:
			r.logger.Error("tool group absent", "set", g.Set, "group", g.Name, "missing", g.Missing)
		default:
			r.logger.Error("tool group degraded", "set", g.Set, "group", g.Name,
				"present", present, "total", present+len(g.Missing), "missing", g.Missing)
		}
	}
}

// Shutdown shuts every set down, the last added first, and joins their errors.
func (r *Registry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, e := range slices.Backward(r.sets) {
		if err := e.set.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("shut down toolset %q: %w", e.set.Name(), err))
		}
	}
	return errors.Join(errs...)
}
