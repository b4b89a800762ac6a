package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"simplex"
	"simplex/process/sandbox"
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
	sandbox.ConfineMain(os.Args)
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
		fmt.Fprintf(stderr, "%sTry `%s --help`.\n", complaint(err), commandNamed(args))
		return exitUsage
	default:
		fmt.Fprint(stderr, complaint(err))
		return exitFailure
	}
}

// complaint is an error for standard error; each of several joined ones says whose it is.
func complaint(err error) string {
	return "simplex: " + strings.ReplaceAll(strings.TrimRight(err.Error(), "\n"), "\n", "\nsimplex: ") + "\n"
}

// commandNamed is the command that a command line is for, as it is typed.
func commandNamed(args []string) string {
	name, commands := "simplex", command(io.Discard, io.Discard).Commands
	for _, arg := range args[min(1, len(args)):] {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(arg) })
		if i < 0 {
			break
		}
		name, commands = name+" "+arg, commands[i].Subcommands
	}
	return name
}

func dispatch(args []string, stdout, stderr io.Writer) error {
	if argument, ok := plainRequest(args); ok {
		return answerRequest(context.Background(), argument, stdout, stderr)
	}
	cli.VersionPrinter = func(c *cli.Context) { fmt.Fprintln(c.App.Writer, c.App.Version) }
	return command(stdout, stderr).Run(args)
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
	app := &cli.App{
		Name:      "simplex",
		Usage:     "a worker runtime for LLM agents, and the manager of the storage they leave",
		Version:   simplex.Version(),
		Writer:    stdout,
		ErrWriter: stderr,
		// With a help command of one's own the library leaves out the flag, too.
		Flags:    []cli.Flag{cli.HelpFlag},
		Commands: []*cli.Command{runCommand(), manageCommand(), chatCommand(), stateCommand(), generateCommand(), helpCommand()},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("unknown command %q", c.Args().First())
			}
			return usagef("a command is needed: run, manage, chat or state")
		},
		OnUsageError:   onUsageError,
		ExitErrHandler: func(*cli.Context, error) {},
	}
	hideHelp(app.Commands)
	return app
}

// noArguments refuses what stands behind the flags.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("unexpected argument %q", c.Args().First())
	}
	return nil
}
