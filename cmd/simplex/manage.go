package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/signal"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"simplex/manager"
	"simplex/manager/protocol"
)

// manageBuffer is written to standard output at once.
const manageBuffer = 64 << 10

func manageCommand() *cli.Command {
	return &cli.Command{
		Name:  "manage",
		Usage: "answer one storage request with one JSON response",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "request", Value: &arguments{}, Usage: "the request: standard padded `BASE64` of one JSON object"},
			&cli.BoolFlag{Name: "version", Usage: "print the version"},
		},
		HideHelpCommand: true, // an argument is never anything but wrong
		Action:          manage,
		// Usage errors are answered in the envelope, too: the caller reads standard output.
		// The library's text may quote an argument, so it is left out.
		OnUsageError: func(c *cli.Context, _ error, _ bool) error { return respondError(c.App.Writer, "", badCommandLine()) },
	}
}

// arguments keeps what was given as it is: the library's own lists trim and split.
type arguments []string

// Set implements flag.Value.
func (a *arguments) Set(value string) error {
	*a = append(*a, value)
	return nil
}

func (a *arguments) String() string { return "" }

func badCommandLine() *protocol.Error {
	return protocol.NewError(protocol.InvalidRequest, "command line: want exactly one --request BASE64 and nothing else")
}

func manage(c *cli.Context) error {
	requests := *c.Generic("request").(*arguments)
	switch {
	case c.Bool("version") && len(requests) == 0 && !c.Args().Present():
		_, err := fmt.Fprintln(c.App.Writer, c.App.Version)
		return err
	case len(requests) != 1 || c.Args().Present() || c.Bool("version"):
		return respondError(c.App.Writer, "", badCommandLine())
	}
	return answerRequest(c.Context, requests[0], c.App.Writer, c.App.ErrWriter)
}

// plainRequest gives the argument of the one form of command line that programs use. A Hub
// calls the manager often, so that form does without the command line library.
func plainRequest(args []string) (string, bool) {
	if len(args) == 4 && args[1] == "manage" && args[2] == "--request" {
		return args[3], true
	}
	return "", false
}

// answerRequest writes the one response to a request; the exit code is 1 unless it succeeded.
func answerRequest(ctx context.Context, argument string, stdout, stderr io.Writer) error {
	signal.Ignore(unix.SIGPIPE) // a response that nobody reads is a failure like any other
	req, failure := protocol.Decode(argument)
	if failure != nil {
		return respondError(stdout, req.RequestID, failure)
	}
	// Modes are set explicitly; this is for the instant between a creation and that.
	unix.Umask(0o077)
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	result, failure := manager.New(manager.Config{Logger: logger, SQLite: sqliteReader{}}).Handle(ctx, req)
	if failure != nil {
		return respondError(stdout, req.RequestID, failure)
	}
	defer result.Close()
	out := bufio.NewWriterSize(stdout, manageBuffer)
	if err := protocol.WriteResult(out, req.RequestID, result.Write); err != nil {
		return err
	}
	return out.Flush()
}

// respondError writes the failure as the one response; the exit code is 1.
func respondError(stdout io.Writer, requestID string, e *protocol.Error) error {
	if _, err := stdout.Write(protocol.AppendError(nil, requestID, e)); err != nil {
		return err
	}
	return exitError(exitFailure)
}
