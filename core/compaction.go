package core

import (
	"path/filepath"

	"simplex/core/compact"
	"simplex/load"
	"simplex/persistence/archive"
	"simplex/persistence/readable"
	"simplex/state"
)

// buildCompactor makes what compacts the session. Without persistence it refuses.
func (a *Application) buildCompactor(cfg load.Persistence, windowTokens uint64) error {
	c := compact.Config{
		Model: model{a.provider}, WindowTokens: windowTokens,
		Save: a.saveCompacted, Swap: a.swapCompacted,
		Now: a.clock, NewID: a.newID, Logger: a.logger,
	}
	if cfg.Enabled {
		memory, err := archive.New(archive.Config{Dir: filepath.Join(cfg.Directory, cfg.Memory), Keep: cfg.MaxArchives})
		if err != nil {
			return err
		}
		c.Archive = memory
	}
	var err error
	a.compactor, err = compact.New(c)
	return err
}

// exporter writes readable.md beside the state, nil when that is off.
func exporter(cfg load.Persistence) func(*state.State) error {
	if !cfg.Enabled || !cfg.Readable {
		return nil
	}
	path := filepath.Join(cfg.Directory, cfg.State, readable.FileName)
	return func(st *state.State) error { return readable.Publish(path, st, readable.Limits{}) }
}
