package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"simplex"
	"simplex/hooks"
	"simplex/hooks/contextstat"
	"simplex/load"
	"simplex/load/document"
	"simplex/load/plugin"
	"simplex/load/prompt"
	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

// New assembles a session: it takes the session's lock, restores or makes the state, and
// builds provider, tools and hooks. Nothing runs or connects before Run, but for the
// plugin programs that the configuration enables: their tools have to be known. On
// failure everything taken is released again.
func New(cfg Config) (*Application, error) {
	if !wire.ValidSessionID(cfg.SessionID) {
		return nil, fmt.Errorf("session id %q: want 1 to 128 characters of A-Z a-z 0-9 _ -", cfg.SessionID)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = uuid.NewString
	}
	a := &Application{
		workerID: cfg.NewID(), worker: cfg.Worker.Worker, clock: cfg.Clock, newID: cfg.NewID, logger: cfg.Logger,
		prompts: cfg.Worker.Prompts, seen: newRemembered(), retention: cfg.Worker.Persistence.MaxArchives,
		neverRestore: persistence.Restore(cfg.Worker.Persistence.Restore) == persistence.RestoreNever, mode: wire.ModeAsk,
	}
	a.pager = display.NewPager(a.workerID)
	a.toolCtx, a.endTools = context.WithCancel(context.Background())
	a.current.Store(&place{})
	if err := a.build(cfg); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Application) build(cfg Config) error {
	if err := a.buildParts(cfg); err != nil {
		if _, placed := errors.AsType[*document.Error](err); placed {
			return err
		}
		return fmt.Errorf("%s: %w", cfg.Worker.File, err)
	}
	return a.buildSession(cfg)
}

// buildParts makes everything that the configuration describes; its errors name the file.
func (a *Application) buildParts(cfg Config) error {
	if err := a.buildTransport(cfg); err != nil {
		return err
	}
	var err error
	if a.provider, err = a.newProvider(cfg.Worker, cfg.Worker.Driver); err != nil {
		return err
	}
	if err := a.buildTools(cfg); err != nil {
		return err
	}
	window, err := plugin.IntrinsicHook(contextstat.HookName, cfg.Env)
	if err != nil {
		return err
	}
	if err := a.buildHooks(cfg, window); err != nil {
		return err
	}
	return a.buildCompactor(cfg.Worker.Persistence, window)
}

// buildHooks puts the handlers in the contract's order: the intrinsic one, the plugins,
// and last the worker itself, which saves and announces what they left.
func (a *Application) buildHooks(cfg Config, window uint64) error {
	statistic, err := contextstat.New(window)
	if err != nil {
		return err
	}
	a.observer = &observer{app: a}
	plugins, err := a.startHookPlugins(context.Background(), cfg)
	if err != nil {
		return err
	}
	handlers := append([]hooks.Handler{statistic}, plugins...)
	a.hooks = hooks.NewRegistry(append(handlers, a.observer)...)
	return nil
}

// buildSession takes the lock and brings the state to where the first input may come.
func (a *Application) buildSession(cfg Config) error {
	s := &session{
		id: cfg.SessionID, policy: policy(cfg.Worker.Persistence), logger: a.logger,
		persisted: a.announceSaved, failed: a.announceStorageFailed,
		export:     exporter(cfg.Worker.Persistence),
		unexported: func(err error) { a.announceExportError(wire.ExportError{Message: wire.Notice(err.Error())}) },
	}
	a.session = s
	restored, err := s.open(cfg.Worker.Persistence)
	if s.store != nil {
		a.closers = append(a.closers, s.store.Close)
	}
	if err != nil {
		return err
	}
	if !restored {
		s.st = state.New(cfg.SessionID, a.clock())
	}
	if err := a.rebuildPrompt(cfg.Worker, restored); err != nil {
		return err
	}
	s.st.Tools = a.tools.Catalogue()
	s.expose()
	return nil
}

// open takes the session's lock and loads what is there.
func (s *session) open(cfg load.Persistence) (restored bool, err error) {
	if !cfg.Enabled {
		return false, nil
	}
	store, err := openStore(cfg, s)
	if err != nil {
		return false, fmt.Errorf("session %s: %w", s.id, err)
	}
	s.store = store
	if s.st, err = s.store.Load(context.Background()); err != nil {
		return false, fmt.Errorf("session %s: %w", s.id, err)
	}
	if s.st == nil {
		return false, nil
	}
	if err := state.Check(s.st); err != nil {
		return false, fmt.Errorf("session %s: %w", s.id, &persistence.CorruptError{Path: store.Path(), Err: err})
	}
	s.warnOfOther(store)
	return true, nil
}

// warnOfOther tells of a second saved state in the format that does not count. After a
// conversion it grows old beside the session, and would be taken for it if somebody set
// the format back.
func (s *session) warnOfOther(store fileStore) {
	other := sqlitestore.StateFile
	if store.Format() == sqlitestore.Format {
		other = jsonstore.StateFile
	}
	dir, counts := filepath.Split(store.Path())
	if _, err := os.Lstat(filepath.Join(dir, other)); err != nil {
		return
	}
	s.logger.Warn(fmt.Sprintf("%s is there, too, and is not read; %s counts because persistence.format is %s", other, counts, store.Format()), "directory", filepath.Clean(dir))
}

// fileStore is a store that can name its file.
type fileStore interface {
	persistence.Store
	Path() string
}

// openStore opens the store of the configured format. A nil interface comes with an error.
func openStore(cfg load.Persistence, s *session) (fileStore, error) {
	restore := persistence.Restore(cfg.Restore)
	if cfg.Format == sqlitestore.Format {
		store, err := sqlitestore.Open(sqlitestore.Config{
			Root: cfg.Directory, StateDir: cfg.State, SessionID: s.id, Restore: restore, Policy: s.policy, Logger: s.logger,
		})
		if err != nil {
			return nil, err
		}
		return store, nil
	}
	store, err := jsonstore.Open(jsonstore.Config{
		Root: cfg.Directory, StateDir: cfg.State, SessionID: s.id, Restore: restore, Policy: s.policy, Logger: s.logger,
	})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// policy translates the configuration's three switches.
func policy(cfg load.Persistence) persistence.Policy {
	return persistence.Policy{
		SkipStepFinished: !cfg.OnStepFinished, SkipRunFinished: !cfg.OnRunFinished, SkipShutdown: !cfg.OnShutdown,
	}
}

// rebuildPrompt makes the system prompt of this start (worker-data.md §5.3): a new
// session begins with the configured file, a restored one with its own sections.
func (a *Application) rebuildPrompt(cfg *load.Config, restored bool) error {
	source := a.session.st.SystemPrompt
	if !restored {
		var err error
		if source, err = cfg.Prompts.System.Prompt(); err != nil {
			return err
		}
	}
	var skills []prompt.Skill
	for _, s := range a.tools.Skills() {
		skills = append(skills, prompt.Skill{Name: s.Name, Title: s.Title, Text: s.Text})
	}
	signature := prompt.Signature(simplex.Version(), a.provider.Name())
	rebuilt, err := prompt.Rebuild(source, skills, cfg.Worker.Environment, signature, restored)
	if err != nil {
		return fmt.Errorf("session %s: %w", a.session.id, err)
	}
	a.session.st.SystemPrompt = rebuilt
	return nil
}
