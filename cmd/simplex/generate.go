package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// bashCompletion asks the program itself what may come next.
const bashCompletion = `_simplex() {
	local words
	words=$("${COMP_WORDS[@]:0:COMP_CWORD}" --generate-bash-completion 2>/dev/null)
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _simplex simplex
`

// zshCompletion lets zsh use what is written for bash.
const zshCompletion = "autoload -U +X bashcompinit && bashcompinit\n" + bashCompletion

// generateCommand prints what `make install` puts beside the binary.
func generateCommand() *cli.Command {
	return &cli.Command{
		Name:      "generate",
		Usage:     "print the man page or a shell's completion",
		ArgsUsage: "man|bash|zsh|fish",
		Hidden:    true,
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
	switch what := c.Args().First(); {
	case c.Args().Len() != 1:
		return "", usagef("generate: want one of man, bash, zsh, fish")
	case what == "man":
		return manPage(c.App), nil
	case what == "bash":
		return bashCompletion, nil
	case what == "zsh":
		return zshCompletion, nil
	case what == "fish":
		return c.App.ToFishCompletion()
	default:
		return "", usagef("generate: %q: want one of man, bash, zsh, fish", what)
	}
}
