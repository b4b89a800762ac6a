package completion

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Bash is the completion for bash 4 and later. naming are the commands whose argument is
// a command.
func Bash(app *cli.App, naming ...string) string {
	root := tree(app, naming...)
	var out strings.Builder
	fmt.Fprintf(&out, `# bash completion for %[1]s
_%[1]s() {
	local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} eq= path=%[1]s i words=
	COMPREPLY=()
	if [[ $cur == "=" ]]; then
		cur= eq="="
	elif [[ $flag == "=" ]]; then
		flag=${COMP_WORDS[COMP_CWORD-2]} eq="="
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case "$path ${COMP_WORDS[i]}" in
		%[2]s) path="$path ${COMP_WORDS[i]}" ;;
		esac
	done
	case "$path $flag$eq" in
`, root.name, paths(root))
	for _, n := range root.all() {
		for _, f := range n.flags {
			bashValue(&out, n, f)
		}
	}
	out.WriteString("\tesac\n\tcase $path in\n")
	for _, n := range root.all() {
		fmt.Fprintf(&out, "\t%q) words=%q ;;\n", n.path, strings.Join(n.follow(), " "))
	}
	fmt.Fprintf(&out, `	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _%[1]s %[1]s
`, root.name)
	return out.String()
}

func paths(root *node) string {
	var out []string
	for _, n := range root.all()[1:] {
		out = append(out, fmt.Sprintf("%q", n.path))
	}
	return strings.Join(out, " | ")
}

// follow is what may be typed next.
func (n *node) follow() []string {
	out := append(n.names(), n.words...)
	for _, f := range n.flags {
		out = append(out, typed(f.names[0]))
	}
	return out
}

// bashValue is the case of a flag whose value is completed.
func bashValue(out *strings.Builder, n *node, f flag) {
	if f.value == "" {
		return
	}
	var places []string
	for _, name := range f.names {
		if !f.optional {
			places = append(places, fmt.Sprintf("%q", n.path+" "+typed(name)))
		}
		places = append(places, fmt.Sprintf("%q", n.path+" "+typed(name)+"="))
	}
	fmt.Fprintf(out, "\t%s)\n", strings.Join(places, " | "))
	switch {
	case f.files:
		out.WriteString("\t\tcompopt -o filenames 2>/dev/null\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n")
	case len(f.choices) > 0:
		fmt.Fprintf(out, "\t\tmapfile -t COMPREPLY < <(compgen -W %s -- \"$cur\")\n", quoted(strings.Join(f.choices, " ")))
	}
	out.WriteString("\t\treturn\n\t\t;;\n")
}
