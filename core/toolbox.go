package core

import (
	"context"

	"simplex/load"
	"simplex/process"
	"simplex/state"
	"simplex/tools"
	toolprocess "simplex/tools/process"
)

// toolbox is the registry as the loop sees it. Tools are not cancelled with their run;
// they are told only when the worker stops, so that what waits gives what it has.
type toolbox struct {
	registry *tools.Registry
	ctx      context.Context
}

func (t toolbox) Prepare(call state.Call, confirm func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	settled, run := t.registry.Prepare(call, confirm)
	return settled, func(context.Context) state.Result { return run(t.ctx) }
}

func (a *Application) buildTools(cfg Config) error {
	a.tools = tools.NewRegistry(a.logger)
	budget, tail := uint64(cfg.Worker.Worker.MaxOutputBytes), uint64(cfg.Worker.Worker.TailBytes)
	a.children = process.NewStore(process.Config{MaxOutputBytes: &budget, TailBytes: &tail, Reaper: cfg.Reaper, Logger: a.logger})
	set, err := toolprocess.New(toolprocess.Config{Store: a.children, DecodeYAML: load.DecodeYAML, Logger: a.logger})
	if err != nil {
		return err
	}
	return a.tools.Add(set)
}

// Abort ends all children at once, without saving or waiting: the last act of a process
// that has no time left.
func (a *Application) Abort() { a.children.TerminateAll() }
