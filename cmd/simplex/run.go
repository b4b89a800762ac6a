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
	"simplex/process/kin"
	"simplex/wire"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "run one worker session until it is told to stop",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Value: "config.yaml", Usage: "configuration `FILE`"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Usage: "session `ID`: 1 to 128 of A-Z a-z 0-9 _ -"},
			&cli.IntFlag{Name: "threads", Aliases: []string{"t"}, Value: 1, Usage: "`N` threads that run Go code at the same time: 1 to 1024"},
		}, logFlags("info")...),
		Action:       withLogger(runWorker),
		OnUsageError: onUsageError,
	}
}

// maxThreads is more than a machine has, and few enough for their stacks.
const maxThreads = 1024

func runWorker(c *cli.Context, logger *slog.Logger) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if err := checkSession(c); err != nil {
		return err
	}
	if n := c.Int("threads"); n < 1 || n > maxThreads {
		return usagef("--threads %d: want 1 to %d", n, maxThreads)
	}
	// One thread more, so that a child's start or an fsync never holds up a signal.
	runtime.GOMAXPROCS(c.Int("threads") + 1)
	env := processEnv()
	cfg, release, err := workerConfig(c.String("config"), load.Options{Env: env}, logger)
	if err != nil {
		return err
	}
	defer release()
	warn(cfg, logger)
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

// checkSession wants a session id that can be one.
func checkSession(c *cli.Context) error {
	id := c.String("session")
	switch {
	case id == "" && !c.IsSet("session"):
		return usagef("--session ID is needed")
	case !wire.ValidSessionID(id):
		return usagef("--session %q: want 1 to 128 characters of A-Z a-z 0-9 _ -", id)
	}
	return nil
}

// warn tells what the configuration has that does nothing.
func warn(cfg *load.Config, logger *slog.Logger) {
	for _, w := range cfg.Warnings {
		logger.Warn("configuration", "problem", w.String())
	}
}

// workerConfig reads the configuration: a file of the operator's, or the managed reference
// of an allocation. A managed one comes with the allocation's lease, which release gives
// back as the last act of the process.
func workerConfig(path string, opt load.Options, logger *slog.Logger) (cfg *load.Config, release func(), err error) {
	managed, err := resolve(path, logger)
	if err != nil {
		return nil, nil, err
	}
	if managed == nil {
		cfg, err = load.Load(path, opt)
		return cfg, func() {}, err
	}
	release = func() { _ = managed.Lease.Close() }
	if cfg, err = managed.Config(opt); err != nil {
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
func adoptOrphans(logger *slog.Logger) (*kin.Reaper, func()) {
	reaper, err := kin.EnableSubreaper(logger)
	if err != nil {
		logger.Warn("descendants that leave their group will not be found at shutdown", "error", err)
		return nil, func() {}
	}
	return reaper, func() { _ = reaper.Close() }
}
