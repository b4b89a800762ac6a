package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"simplex/cmd/simplex/completion"
)

// generateCommand prints what `make install` puts beside the binary.
func generateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "print the man page or a shell's completion",
		ArgsUsage: "man|bash|zsh|fish",
		Action: func(c *cli.Context) error {
			text, err := generated(c)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.App.Writer, text)
			return err
		},
		OnUsageError: onUsageError,
	}
}

func generated(c *cli.Context) (string, error) {
	const help = "help" // the command whose argument is a command
	switch what := c.Args().First(); {
	case c.Args().Len() != 1:
		return "", usagef("generate: want one of man, bash, zsh, fish")
	case what == "man":
		return manPage(c.App), nil
	case what == "bash":
		return completion.Bash(c.App, help), nil
	case what == "zsh":
		return completion.Zsh(c.App, help), nil
	case what == "fish":
		return completion.Fish(c.App, help), nil
	default:
		return "", usagef("generate: %q: want one of man, bash, zsh, fish", what)
	}
}
