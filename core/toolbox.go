package core

import (
	"context"

	"simplex/load"
	"simplex/load/document"
	"simplex/process"
	"simplex/state"
	"simplex/tools"
	"simplex/tools/editing"
	"simplex/tools/hubcall"
	"simplex/tools/modality"
	toolprocess "simplex/tools/process"
	"simplex/tools/reading"
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

// buildTools registers the sets in catalogue order (tools.md §1.2).
func (a *Application) buildTools(cfg Config) error {
	a.tools = tools.NewRegistry(a.logger)
	box, err := a.buildSandbox(cfg.Worker)
	if err != nil {
		return err
	}
	budget, tail := uint64(cfg.Worker.Worker.MaxOutputBytes), uint64(cfg.Worker.Worker.TailBytes)
	a.children = process.NewStore(process.Config{MaxOutputBytes: &budget, TailBytes: &tail, Reaper: cfg.Reaper, Sandbox: box, Logger: a.logger})
	makers := []func() (tools.Set, error){
		func() (tools.Set, error) {
			return toolprocess.New(toolprocess.Config{Store: a.children, DecodeYAML: document.DecodeYAML, Logger: a.logger})
		},
		func() (tools.Set, error) {
			return reading.New(reading.Config{DecodeYAML: document.DecodeYAML, Logger: a.logger})
		},
		func() (tools.Set, error) {
			return editing.New(editing.Config{DecodeYAML: document.DecodeYAML, Logger: a.logger})
		},
	}
	if cfg.Worker.Assist != nil {
		makers = append(makers, func() (tools.Set, error) { return a.assistant(cfg.Worker) })
	}
	if cfg.Worker.HubCall != nil {
		makers = append(makers, func() (tools.Set, error) { return a.hubCalls(*cfg.Worker.HubCall) })
	}
	for _, makeSet := range makers {
		set, err := makeSet()
		if err != nil {
			return err
		}
		if err := a.tools.Add(set); err != nil {
			return err
		}
	}
	return a.addToolPlugins(context.Background(), cfg, box)
}

// assistant describes images with a model of its own, apart from the conversation's.
func (a *Application) assistant(cfg *load.Config) (tools.Set, error) {
	provider, err := a.newProvider(cfg, *cfg.Assist)
	if err != nil {
		return nil, err
	}
	return modality.New(modality.Config{Model: model{provider}, DecodeYAML: document.DecodeYAML, Logger: a.logger})
}

// hubCalls are the tools that the Hub carries out.
func (a *Application) hubCalls(r load.Remote) (tools.Set, error) {
	return hubcall.New(hubcall.Config{
		Endpoint: r.Endpoint.String(), Timeout: r.Timeout, NewRequestID: a.newID,
		IDs: func() hubcall.IDs {
			return hubcall.IDs{WorkerID: a.workerID, SessionID: a.session.id, RunID: a.current.Load().runID}
		},
		DecodeYAML: document.DecodeYAML, Logger: a.logger,
	})
}

// Abort ends all children at once, without saving or waiting: the last act of a process
// that has no time left.
func (a *Application) Abort() { a.children.TerminateAll() }
