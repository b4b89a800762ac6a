package completion

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Zsh is the completion function for zsh: a file of $fpath named _simplex, or to be
// sourced after compinit. naming is as for Bash.
func Zsh(app *cli.App, naming ...string) string {
	root := tree(app, naming...)
	var out strings.Builder
	fmt.Fprintf(&out, "#compdef %s\n\n", root.name)
	for _, n := range root.all() {
		zshFunction(&out, n)
	}
	// As a file of $fpath this text is the function's body; sourced, it only defines.
	fmt.Fprintf(&out, `if [ "$funcstack[1]" = "_%[1]s" ]; then
	_%[1]s "$@"
else
	compdef _%[1]s %[1]s
fi
`, root.name)
	return out.String()
}

func zshName(n *node) string { return "_" + strings.ReplaceAll(n.path, " ", "_") }

func zshFunction(out *strings.Builder, n *node) {
	fmt.Fprintf(out, "%s() {\n", zshName(n))
	if len(n.subs) > 0 {
		out.WriteString("\tlocal curcontext=$curcontext context state state_descr line\n\ttypeset -A opt_args\n\tlocal -a commands\n")
		out.WriteString("\t_arguments -C")
	} else {
		out.WriteString("\t_arguments")
	}
	for _, f := range n.flags {
		fmt.Fprintf(out, " \\\n\t\t%s", zshFlag(f))
	}
	switch {
	case len(n.subs) > 0:
		out.WriteString(" \\\n\t\t'1: :->command' \\\n\t\t'*:: :->argument'\n")
		zshCommands(out, n)
	case len(n.words) > 0:
		fmt.Fprintf(out, " \\\n\t\t%s\n", quoted("1:argument:("+strings.Join(n.words, " ")+")"))
	default:
		out.WriteString("\n")
	}
	out.WriteString("}\n\n")
}

func zshCommands(out *strings.Builder, n *node) {
	out.WriteString("\tcase $state in\n\tcommand)\n\t\tcommands=(\n")
	for _, sub := range n.subs {
		fmt.Fprintf(out, "\t\t\t%s\n", quoted(sub.name+":"+strings.ReplaceAll(sub.usage, ":", `\:`)))
	}
	out.WriteString("\t\t)\n\t\t_describe -t commands command commands\n\t\t;;\n\targument)\n\t\tcase $line[1] in\n")
	for _, sub := range n.subs {
		fmt.Fprintf(out, "\t\t%s) %s ;;\n", sub.name, zshName(sub))
	}
	out.WriteString("\t\tesac\n\t\t;;\n\tesac\n")
}

// zshFlag is one flag as _arguments wants it.
func zshFlag(f flag) string {
	var names, exclude []string
	for _, name := range f.names {
		exclude = append(exclude, typed(name))
		name = typed(name)
		switch {
		case f.optional:
			name += "=-"
		case f.value != "" && strings.HasPrefix(name, "--"):
			name += "="
		}
		names = append(names, name)
	}
	usage := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(f.usage)
	spec := "[" + usage + "]"
	if f.value != "" {
		colon := ":"
		if f.optional {
			colon = "::"
		}
		spec += colon + f.value + ":" + zshValues(f)
	}
	if len(names) == 1 {
		return quoted(names[0] + spec)
	}
	return quoted("("+strings.Join(exclude, " ")+")") + "{" + strings.Join(names, ",") + "}" + quoted(spec)
}

func zshValues(f flag) string {
	switch {
	case f.files:
		return "_files"
	case len(f.choices) > 0:
		return "(" + strings.Join(f.choices, " ") + ")"
	}
	return " "
}
