package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// manPage is the manual in roff, from what --help says.
func manPage(app *cli.App) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH SIMPLEX 1 \"\" \"simplex %s\"\n.SH NAME\n%s \\- %s\n", app.Version, app.Name, roff(app.Usage))
	out.WriteString(".SH SYNOPSIS\n.B simplex\n.I COMMAND\n[OPTIONS]\n.SH COMMANDS\n")
	for _, command := range app.Commands {
		if !command.Hidden {
			describe(&out, command, command.Name)
		}
	}
	out.WriteString(".SH EXIT STATUS\n0 after an orderly end, 1 after a reported failure, 2 for wrong usage, " +
		"128 + n when a second signal n ended it at once.\n")
	return out.String()
}

func describe(out *strings.Builder, command *cli.Command, name string) {
	fmt.Fprintf(out, ".SS simplex %s\n%s\n", roff(name), roff(command.Usage))
	if command.Description != "" {
		fmt.Fprintf(out, ".PP\n%s\n", roff(command.Description))
	}
	for _, flag := range command.Flags {
		fmt.Fprintf(out, ".TP\n%s\n", roff(strings.Replace(flag.String(), "\t", "\n", 1)))
	}
	for _, sub := range command.Subcommands {
		describe(out, sub, name+" "+sub.Name)
	}
}

// roff keeps text from being taken for requests.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = "\\&" + line
		}
	}
	return strings.Join(lines, "\n")
}
