package main

import (
	"bufio"
	"log/slog"

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
			&cli.StringSliceFlag{Name: "request", Usage: "the request: standard padded `BASE64` of one JSON object"},
		},
		Action: manage,
		// Usage errors are answered in the envelope, too: the caller reads standard output.
		// The library's text may quote an argument, so it is left out.
		OnUsageError: func(c *cli.Context, _ error, _ bool) error { return respondError(c, "", badCommandLine()) },
	}
}

func badCommandLine() *protocol.Error {
	return protocol.NewError(protocol.InvalidRequest, "command line: want exactly one --request BASE64 and nothing else")
}

func manage(c *cli.Context) error {
	requests := c.StringSlice("request")
	if len(requests) != 1 || c.Args().Present() {
		return respondError(c, "", badCommandLine())
	}
	req, failure := protocol.Decode(requests[0])
	if failure != nil {
		return respondError(c, req.RequestID, failure)
	}
	// Modes are set explicitly; this is for the instant between a creation and that.
	unix.Umask(0o077)
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	result, failure := manager.New(manager.Config{Logger: logger, SQLite: sqliteReader{}}).Handle(c.Context, req)
	if failure != nil {
		return respondError(c, req.RequestID, failure)
	}
	defer result.Close()
	out := bufio.NewWriterSize(c.App.Writer, manageBuffer)
	if err := protocol.WriteResult(out, req.RequestID, result.Write); err != nil {
		return err
	}
	return out.Flush()
}

// respondError writes the failure as the one response; the exit code is 1.
func respondError(c *cli.Context, requestID string, e *protocol.Error) error {
	if _, err := c.App.Writer.Write(protocol.AppendError(nil, requestID, e)); err != nil {
		return err
	}
	return exitError(exitFailure)
}
