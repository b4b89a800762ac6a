package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"simplex"
	"simplex/process"
)

// The exit codes of every subcommand.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitSignal  = 128 // plus the signal's number
)

// usageError is a mistake in the command line, as opposed to a failure of the work.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError carries an exit code for a failure that was already reported.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	process.ConfineMain(os.Args)
	os.Exit(execute(os.Args, os.Stdout, os.Stderr))
}

// execute runs one command line and gives its exit code.
func execute(args []string, stdout, stderr io.Writer) int {
	out := &outlet{w: stdout}
	err := dispatch(args, out, stderr)
	if err == nil {
		err = out.err
	}
	var done exitError
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &done):
		return int(done)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "simplex: %v\nTry `simplex --help`.\n", err)
		return exitUsage
	default:
		fmt.Fprintf(stderr, "simplex: %v\n", err)
		return exitFailure
	}
}

func dispatch(args []string, stdout, stderr io.Writer) error {
	if argument, ok := plainRequest(args); ok {
		return answerRequest(context.Background(), argument, stdout, stderr)
	}
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, c.App.Version) }
	app := command(stdout, stderr)
	// The one argument of manage is its caller's; nothing in it asks for completions.
	app.EnableBashCompletion = len(args) < 2 || args[1] != "manage"
	return app.Run(args)
}

// outlet is standard output with a memory: what could not be written is a failure of the
// command, also where the writer did not look.
type outlet struct {
	w   io.Writer
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}

func command(stdout, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:            "simplex",
		Usage:           "a worker runtime for LLM agents, and the manager of the storage they leave",
		Version:         simplex.Version(),
		Writer:          stdout,
		ErrWriter:       stderr,
		HideHelpCommand: true,
		Commands:        []*cli.Command{runCommand(), manageCommand(), chatCommand(), stateCommand(), generateCommand()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q", c.Args().First())
			}
			return usagef("a command is needed: run, manage, chat or state")
		},
		OnUsageError:   onUsageError,
		ExitErrHandler: func(*cli.Context, error) {},
	}
}

func onUsageError(_ *cli.Context, err error, _ bool) error { return usageError{err} }

// noArguments refuses what stands behind the flags.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("unexpected argument %q", c.Args().First())
	}
	return nil
}
