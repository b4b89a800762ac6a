package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"simplex"
	"simplex/hooks"
	"simplex/hooks/external"
	"simplex/load"
	"simplex/load/plugin"
	"simplex/process/sandbox"
	"simplex/tools/mcp"
)

// errNoWorkspace says that there is nothing to confine children to.
var errNoWorkspace = errors.New("needs /worker/environment/workspace")

// buildSandbox prepares the confinement of children, nil when it is off. Where the kernel
// has none, the start is refused: a confinement that is asked for must be there.
func (a *Application) buildSandbox(cfg *load.Config) (*sandbox.Box, error) {
	if cfg.SandboxFiles != "workspace" {
		return nil, nil
	}
	if cfg.Worker.Environment.Workspace == "" {
		return nil, cfg.Fault("/security/sandbox/filesystem", errNoWorkspace)
	}
	temp, err := os.MkdirTemp("", "simplex-sandbox-*")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(temp) })
	box := &sandbox.Box{Workspace: cfg.Worker.Environment.Workspace, Temp: temp}
	if err := box.Check(); err != nil {
		return nil, cfg.Fault("/security/sandbox/filesystem", err)
	}
	return box, nil
}

// addToolPlugins starts the enabled toolsets and offers their tools behind the built-in
// ones. What was started ends with the registry.
func (a *Application) addToolPlugins(ctx context.Context, cfg Config, box *sandbox.Box) error {
	plugins, err := plugin.Toolsets(cfg.Worker.Plugins, cfg.Env)
	if err != nil {
		return err
	}
	for i, p := range plugins {
		entry := "/plugins/extensions/tools/enable/" + strconv.Itoa(i)
		set, err := mcp.Start(ctx, toolPlugin(p, cfg, box))
		if err != nil {
			return cfg.Worker.Fault(entry, err)
		}
		if err := a.tools.Add(set); err != nil {
			return errors.Join(cfg.Worker.Fault(entry, err), set.Shutdown(ctx))
		}
	}
	return nil
}

func toolPlugin(p plugin.Toolset, cfg Config, box *sandbox.Box) mcp.Config {
	return mcp.Config{
		Name: p.Name, Command: p.Command, Args: p.Args, Environment: p.Environment(cfg.Env),
		WorkingDirectory: p.WorkingDirectory, Sandbox: box, Prefix: p.Prefix,
		Rule: func(name string) mcp.Rule {
			t := p.Tool(name)
			return mcp.Rule{Type: t.Type, Security: t.Security, Hide: !t.Offer}
		},
		Expected:     append(slices.Sorted(maps.Keys(p.Tools)), p.Trust...),
		StartTimeout: p.StartTimeout, CallTimeout: p.CallTimeout, Grace: p.Grace,
		MaxRestarts: p.MaxRestarts, MaxResultBytes: p.MaxResultBytes,
		Version: simplex.Version(), Logger: cfg.Logger,
	}
}

// startHookPlugins starts the enabled hook programs, in the order of the list.
func (a *Application) startHookPlugins(ctx context.Context, cfg Config) ([]hooks.Handler, error) {
	plugins, err := plugin.Hooks(cfg.Worker.Plugins, cfg.Env)
	if err != nil {
		return nil, err
	}
	var out []hooks.Handler
	for i, p := range plugins {
		events, err := hookEvents(p)
		if err != nil {
			return nil, err
		}
		h, err := external.Start(ctx, external.Config{
			Name: p.Name, Command: p.Command, Args: p.Args, Environment: p.Environment(cfg.Env),
			WorkingDirectory: p.WorkingDirectory, Settings: p.Config, Events: events, FailOpen: p.FailOpen,
			Deadline: p.Deadline, Grace: p.Grace, MaxRestarts: p.MaxRestarts, MaxAnswerBytes: p.MaxAnswerBytes,
			Logger: cfg.Logger,
		})
		if err != nil {
			return nil, cfg.Worker.Fault("/plugins/extensions/loop_hooks/enable/"+strconv.Itoa(i), err)
		}
		a.programs = append(a.programs, h.Close)
		out = append(out, h)
	}
	return out, nil
}

// hookEvents are the events that a hook wants to hear.
func hookEvents(p plugin.Hook) ([]hooks.Name, error) {
	events := make([]hooks.Name, len(p.Events))
	for i, name := range p.Events {
		events[i] = hooks.Name(name)
		if slices.Contains(hooks.Names(), events[i]) {
			continue
		}
		var known []string
		for _, name := range hooks.Names() {
			known = append(known, string(name))
		}
		return nil, p.Fault("/events/"+strconv.Itoa(i), fmt.Errorf("%w: %q; there are: %s", external.ErrEvent, name, strings.Join(known, ", ")))
	}
	return events, nil
}

// endPrograms ends hook programs, tools and their children, once.
func (a *Application) endPrograms() error {
	if a.ended {
		return nil
	}
	a.ended = true
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	var errs []error
	for _, end := range slices.Backward(a.programs) {
		errs = append(errs, end(ctx))
	}
	if a.tools != nil {
		errs = append(errs, a.tools.Shutdown(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("child processes: %w", err)
	}
	return nil
}
