package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"simplex/load"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
)

func stateCommand() *cli.Command {
	flags := func() []cli.Flag {
		return append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Value: "config.yaml", Usage: "configuration `FILE` of the session, or an allocation's config/config.yaml"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Usage: "session `ID` that the state must have"},
			&cli.BoolFlag{Name: "offline", Usage: "the session of a chat --offline; --config only if that had one"},
		}, logFlags("info")...)
	}
	return &cli.Command{
		Name:  "state",
		Usage: "convert a session's saved state, or settle it after a crash",
		Subcommands: []*cli.Command{
			{
				Name: "export", Usage: "write state.json from state.db; nothing is overwritten", Flags: flags(),
				Action:       withSession(exportState),
				OnUsageError: onUsageError,
			},
			{
				Name: "import", Usage: "write state.db from state.json; nothing is overwritten", Flags: flags(),
				Action:       withSession(importState),
				OnUsageError: onUsageError,
			},
			{
				Name: "settle", Usage: "give the calls that a killed worker left without a result one, so that inputs are taken again",
				Description: "Look at the machine first: whether these calls took effect is not known, and the model\n" +
					"goes on from what is said here. Nothing runs, and nothing else changes.",
				Flags: append(flags(),
					&cli.StringFlag{Name: "result", Value: effectUnknown, DefaultText: "the effect is not known", Usage: "`TEXT` that the model gets as the result of each of these calls"}),
				Action:       withSession(settleState),
				OnUsageError: onUsageError,
			},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q", "state "+c.Args().First())
			}
			return usagef("a command is needed: state export, state import or state settle")
		},
		OnUsageError: onUsageError,
	}
}

// storedSession is a session on this machine that no worker may have open.
type storedSession struct {
	id     string
	cfg    load.Persistence
	logger *slog.Logger
}

// withSession finds the session that the command line names. A managed one is found
// under its allocation's lease, which is kept until action returns.
func withSession(action func(*cli.Context, *storedSession) error) cli.ActionFunc {
	return withLogger(func(c *cli.Context, logger *slog.Logger) error {
		if err := noArguments(c); err != nil {
			return err
		}
		if err := checkSession(c); err != nil {
			return err
		}
		cfg, release, err := stateConfig(c, logger)
		if err != nil {
			return err
		}
		defer release()
		if !cfg.Persistence.Enabled {
			return fmt.Errorf("%s: /persistence/enabled: the session is not stored", cfg.File)
		}
		return action(c, &storedSession{id: c.String("session"), cfg: cfg.Persistence, logger: logger})
	})
}

// stateConfig reads the configuration that a worker or a chat had.
func stateConfig(c *cli.Context, logger *slog.Logger) (*load.Config, func(), error) {
	opt := load.Options{Env: processEnv(), ClientOptional: true}
	if !c.Bool("offline") {
		return workerConfig(c.String("config"), opt, logger)
	}
	file := ""
	if c.IsSet("config") {
		file = c.String("config")
	}
	cfg, err := offlineConfig(file, "", opt)
	return cfg, func() {}, err
}

func (s *storedSession) json() string { return statePath(s.cfg, jsonstore.StateFile) }
func (s *storedSession) db() string   { return statePath(s.cfg, sqlitestore.StateFile) }

func statePath(cfg load.Persistence, name string) string {
	return filepath.Join(cfg.Directory, cfg.State, name)
}

// stateFile is where a worker of that configuration keeps the session.
func stateFile(cfg load.Persistence) string {
	if cfg.Format == sqlitestore.Format {
		return statePath(cfg, sqlitestore.StateFile)
	}
	return statePath(cfg, jsonstore.StateFile)
}

// otherStateFile is that of the format which is not configured.
func otherStateFile(cfg load.Persistence) string {
	if cfg.Format == sqlitestore.Format {
		return statePath(cfg, jsonstore.StateFile)
	}
	return statePath(cfg, sqlitestore.StateFile)
}

func (s *storedSession) sqlite() sqlitestore.Config {
	return sqlitestore.Config{Root: s.cfg.Directory, StateDir: s.cfg.State, SessionID: s.id, Logger: s.logger}
}

func exportState(c *cli.Context, s *storedSession) error {
	if err := sqlitestore.Export(context.Background(), s.sqlite()); err != nil {
		return err
	}
	next := "persistence.format is json already"
	if s.cfg.Format != jsonstore.Format {
		next = "a worker uses it once persistence.format is json"
	}
	_, err := fmt.Fprintf(c.App.Writer, "exported session %s from %s to %s; %s\n", s.id, s.db(), s.json(), next)
	return err
}

func importState(c *cli.Context, s *storedSession) error {
	if err := sqlitestore.Import(context.Background(), s.sqlite()); err != nil {
		return err
	}
	next := "persistence.format is sqlite already"
	if s.cfg.Format != sqlitestore.Format {
		next = "now set persistence.format to sqlite"
	}
	_, err := fmt.Fprintf(c.App.Writer, "imported session %s from %s to %s; %s\n", s.id, s.json(), s.db(), next)
	return err
}
