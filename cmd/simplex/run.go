package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"syscall"

	"github.com/urfave/cli/v2"

	"simplex/core"
	"simplex/load"
	"simplex/manager"
	"simplex/process"
	"simplex/wire"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "run one worker session until it is told to stop",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Value: "config.yaml", Usage: "configuration `FILE`"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Usage: "session `ID`: 1 to 128 of A-Z a-z 0-9 _ -"},
			&cli.IntFlag{Name: "threads", Aliases: []string{"t"}, Value: 1, Usage: "`N` threads that run Go code at the same time"},
		}, logFlags()...),
		Action:       runWorker,
		OnUsageError: onUsageError,
	}
}

func runWorker(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if !wire.ValidSessionID(c.String("session")) {
		return usagef("--session %q: want 1 to 128 characters of A-Z a-z 0-9 _ -", c.String("session"))
	}
	if c.Int("threads") < 1 {
		return usagef("--threads %d: want at least 1", c.Int("threads"))
	}
	logger, err := newLogger(c, c.App.ErrWriter)
	if err != nil {
		return err
	}
	// One thread more, so that a child's start or an fsync never holds up a signal.
	runtime.GOMAXPROCS(c.Int("threads") + 1)
	env := processEnv()
	cfg, release, err := workerConfig(c.String("config"), env, logger)
	if err != nil {
		return err
	}
	defer release()
	for _, w := range cfg.Warnings {
		logger.Warn("configuration", "problem", w.String())
	}
	reaper, leave := adoptOrphans(logger)
	defer leave()
	app, err := core.New(core.Config{SessionID: c.String("session"), Worker: cfg, Env: env, Logger: logger, Reaper: reaper})
	if err != nil {
		return err
	}
	ctx, end := stopSignals(context.Background(), app.Abort, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer end()
	return errors.Join(app.Run(ctx), app.Close())
}

// workerConfig reads the configuration: a file of the operator's, or the managed reference
// of an allocation. A managed one comes with the allocation's lease, which release gives
// back as the last act of the process.
func workerConfig(path string, env load.Env, logger *slog.Logger) (cfg *load.Config, release func(), err error) {
	managed, err := resolve(path, logger)
	if err != nil {
		return nil, nil, err
	}
	if managed == nil {
		cfg, err = load.Load(path, load.Options{Env: env})
		return cfg, func() {}, err
	}
	release = func() { _ = managed.Lease.Close() }
	if cfg, err = managed.Config(load.Options{Env: env}); err != nil {
		release()
		return nil, nil, err
	}
	return cfg, release, nil
}

// resolve gives the allocation that the file refers to, nil for an ordinary configuration.
// A pipe, as a shell makes it of a command, cannot be a reference and is read only once.
func resolve(path string, logger *slog.Logger) (*manager.Managed, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	return manager.New(manager.Config{Logger: logger}).Resolve(path)
}

// adoptOrphans makes this process the parent of what its children leave behind. Without
// that a worker still works; only such orphans outlive it.
func adoptOrphans(logger *slog.Logger) (*process.Reaper, func()) {
	reaper, err := process.EnableSubreaper(logger)
	if err != nil {
		logger.Warn("descendants that leave their group will not be found at shutdown", "error", err)
		return nil, func() {}
	}
	return reaper, func() { _ = reaper.Close() }
}
