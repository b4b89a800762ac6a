package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"simplex/load"
	"simplex/persistence/sqlitestore"
	"simplex/wire"
)

func stateCommand() *cli.Command {
	flags := func() []cli.Flag {
		return append([]cli.Flag{
			&cli.StringFlag{Name: "config", Aliases: []string{"c"}, Value: "config.yaml", Usage: "configuration `FILE` of the session"},
			&cli.StringFlag{Name: "session", Aliases: []string{"s"}, Usage: "session `ID` that the state must have"},
		}, logFlags()...)
	}
	return &cli.Command{
		Name:  "state",
		Usage: "bring a session from one storage format to the other",
		Subcommands: []*cli.Command{
			{
				Name: "export", Usage: "write state.json from state.db; nothing is overwritten", Flags: flags(),
				Action:       func(c *cli.Context) error { return convertState(c, sqlitestore.Export) },
				OnUsageError: onUsageError,
			},
			{
				Name: "import", Usage: "write state.db from state.json; nothing is overwritten", Flags: flags(),
				Action:       func(c *cli.Context) error { return convertState(c, sqlitestore.Import) },
				OnUsageError: onUsageError,
			},
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q", "state "+c.Args().First())
			}
			return usagef("a command is needed: state export or state import")
		},
		OnUsageError: onUsageError,
	}
}

// convertState converts the session that the configuration names; no worker may have it.
func convertState(c *cli.Context, convert func(context.Context, sqlitestore.Config) error) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if !wire.ValidSessionID(c.String("session")) {
		return usagef("--session %q: want 1 to 128 characters of A-Z a-z 0-9 _ -", c.String("session"))
	}
	logger, err := newLogger(c, c.App.ErrWriter)
	if err != nil {
		return err
	}
	cfg, err := load.Load(c.String("config"), load.Options{Env: processEnv(), ClientOptional: true})
	if err != nil {
		return err
	}
	if !cfg.Persistence.Enabled {
		return fmt.Errorf("%s: /persistence/enabled: the session is not stored", cfg.File)
	}
	return convert(context.Background(), sqlitestore.Config{
		Root: cfg.Persistence.Directory, StateDir: cfg.Persistence.State, SessionID: c.String("session"), Logger: logger,
	})
}
