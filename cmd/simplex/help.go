package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"simplex/internal/text"
)

// helpCommand shows what --help shows.
func helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show the help of a command",
		ArgsUsage: "[COMMAND]",
		Action: func(c *cli.Context) error {
			commands, line := c.App.Commands, []string{c.App.Name}
			for _, name := range c.Args().Slice() {
				i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == name })
				if i < 0 {
					return usagef("unknown command %q", strings.Join(c.Args().Slice(), " "))
				}
				line, commands = append(line, name), commands[i].Subcommands
			}
			return c.App.Run(append(line, "--help"))
		},
		OnUsageError: onUsageError,
	}
}

// hideHelp leaves out the library's own help command, which would stand below each one.
func hideHelp(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = true
		hideHelp(c.Subcommands)
	}
}

// onUsageError says in this program's words what the library found: it knows flags with
// one dash only.
func onUsageError(c *cli.Context, err error, _ bool) error {
	problem := err.Error()
	if name, ok := strings.CutPrefix(problem, "flag provided but not defined: -"); ok {
		return usageError{unknownFlag(c, strings.TrimLeft(name, "-"))}
	}
	if name, ok := strings.CutPrefix(problem, "flag needs an argument: -"); ok {
		return usagef("%s needs a value", dashed(strings.TrimLeft(name, "-")))
	}
	if what, rest, ok := cutAny(problem, " for flag -", " for -"); ok {
		name, why, _ := strings.Cut(rest, ": ")
		return usagef("%s: %s: %s", dashed(name), what, why)
	}
	return usageError{err}
}

func unknownFlag(c *cli.Context, name string) error {
	var known []string
	for _, flag := range c.Command.Flags {
		known = append(known, flag.Names()...)
	}
	if near, ok := text.Nearest(name, known); ok && len(near) > 1 {
		return errors.New("unknown flag " + dashed(name) + "; did you mean " + dashed(near) + "?")
	}
	return errors.New("unknown flag " + dashed(name))
}

// dashed is a flag as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// cutAny cuts around the last of whichever separator is there first in order.
func cutAny(s string, separators ...string) (before, after string, found bool) {
	for _, sep := range separators {
		if i := strings.LastIndex(s, sep); i >= 0 {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}
