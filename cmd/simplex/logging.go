package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/urfave/cli/v2"
)

// logFlags are the flags of a command that logs from this level on.
func logFlags(level string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-format", Value: "text", Usage: "`FORMAT` of the log on standard error: text or json"},
		&cli.StringFlag{Name: "log-level", Value: level, Usage: "least `LEVEL` logged: debug, info, warn or error"},
	}
}

// withLogger makes an action of a function that logs. With a log of JSON lines the failure
// that ends the command is one, too.
func withLogger(action func(*cli.Context, *slog.Logger) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		logger, err := newLogger(c, c.App.ErrWriter)
		if err != nil {
			return err
		}
		err = action(c, logger)
		if err == nil || c.String("log-format") != "json" || reported(err) {
			return err
		}
		logger.Error("the command failed", "error", err.Error())
		return exitError(exitFailure)
	}
}

// reported tells whether the end needs no line in the log: wrong usage is told in words,
// and an exit code of its own says that all was told before.
func reported(err error) bool {
	if _, usage := errors.AsType[usageError](err); usage {
		return true
	}
	_, done := errors.AsType[exitError](err)
	return done
}

func newLogger(c *cli.Context, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return nil, usagef("--log-level %q: want debug, info, warn or error", c.String("log-level"))
	}
	opts := &slog.HandlerOptions{Level: level}
	switch c.String("log-format") {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, usagef("--log-format %q: want text or json", c.String("log-format"))
}
