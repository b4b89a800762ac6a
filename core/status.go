package core

import (
	"simplex/wire"
	"simplex/wire/display"
)

// status is the worker as it stands (wire.md §5). It may be called from any goroutine.
func (a *Application) status() wire.Status {
	active, stopping := a.runs.state()
	count, bytes := a.outbox.load()
	_, sending := a.client.Load()
	rejected := a.router.Counters()
	s := wire.Status{
		Active: active, Stopping: stopping, StorageFailed: a.session.broken.Load(),
		RejectedPayloads: rejected.RejectedPayloads, RejectedQueries: rejected.RejectedQueries,
		UnreportedRejection: rejected.UnreportedRejections,
		EventQueue:          wire.EventQueue{Count: count, Bytes: bytes, TransportBytes: sending},
		MemoryRetention:     wire.MemoryRetention{MaxArchives: a.retention},
		Capabilities:        a.capabilities(),
	}
	if auto := a.auto.Load(); auto != nil && a.worker.AutoCompactThreshold > 0 {
		counters := auto.Counters()
		s.AutoCompact = &counters
	}
	if snap := a.session.snap.Load(); snap.state.Loop != nil {
		s.Loop = display.Loop(snap.state.Loop)
	}
	return s
}

// capabilities lists what a Hub may ask of this worker beyond the basic inputs. Without
// persistence there is nothing to compact into.
func (a *Application) capabilities() []string {
	out := []string{wire.CapHistory, wire.CapAnswerPages, wire.CapModelStream}
	if a.session.store != nil {
		out = append(out, wire.CapCompact, wire.CapAutoCompact)
	}
	return out
}

// options is what may be chosen at run time and what is chosen now.
func (a *Application) options() wire.OptionsData {
	model := a.provider.Options()
	out := wire.OptionsData{
		Model:        wire.OptionCategory{Available: []wire.OptionChoice{}, Current: wire.OptionValues{Object: model.Current}},
		Tools:        wire.OptionCategory{Available: []wire.OptionChoice{}},
		Confirmation: wire.ConfirmationOptions(a.modeNow()),
	}
	for _, o := range model.Available {
		out.Model.Available = append(out.Model.Available, wire.OptionChoice{Name: o.Name, Options: o.Options})
	}
	return out
}

func (a *Application) modeNow() wire.Mode {
	a.modeMu.Lock()
	defer a.modeMu.Unlock()
	return a.mode
}

func (a *Application) setMode(m wire.Mode) {
	a.modeMu.Lock()
	defer a.modeMu.Unlock()
	a.mode = m
}
