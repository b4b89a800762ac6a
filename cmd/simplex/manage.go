package main

import (
	"github.com/urfave/cli/v2"

	"simplex/manager/protocol"
)

func manageCommand() *cli.Command {
	return &cli.Command{
		Name:  "manage",
		Usage: "answer one storage request with one JSON response",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "request", Usage: "the request: standard padded `BASE64` of one JSON object"},
		},
		Action: manage,
		// Usage errors are answered in the envelope, too: the caller reads standard output.
		OnUsageError: func(c *cli.Context, err error, _ bool) error {
			return respondError(c, "", protocol.NewError(protocol.InvalidRequest, "command line: "+err.Error()))
		},
	}
}

func manage(c *cli.Context) error {
	requests := c.StringSlice("request")
	if len(requests) != 1 || c.Args().Present() {
		return respondError(c, "", protocol.NewError(protocol.InvalidRequest, "command line: want exactly one --request and nothing else"))
	}
	req, err := protocol.Decode(requests[0])
	if err != nil {
		return respondError(c, req.RequestID, err)
	}
	return respondError(c, req.RequestID, protocol.NewError(protocol.UnsupportedOperation,
		"operation: this version manages no allocations yet"))
}

// respondError writes the failure as the one response; the exit code is 1.
func respondError(c *cli.Context, requestID string, e *protocol.Error) error {
	if _, err := c.App.Writer.Write(protocol.AppendError(nil, requestID, e)); err != nil {
		return err
	}
	return exitError(exitFailure)
}
