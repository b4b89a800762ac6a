package completion

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Fish is the completion for fish 3 and later. naming is as for Bash.
func Fish(app *cli.App, naming ...string) string {
	root := tree(app, naming...)
	var out strings.Builder
	fmt.Fprintf(&out, "# fish completion for %[1]s\ncomplete -c %[1]s -f\n", root.name)
	fishNode(&out, root, nil, root.name)
	return out.String()
}

// fishNode writes what may follow a command; above are the names of those before it.
func fishNode(out *strings.Builder, n *node, above []string, program string) {
	var here []string
	for _, name := range above {
		here = append(here, "__fish_seen_subcommand_from "+name)
	}
	next := here
	switch {
	case len(above) == 0:
		next = []string{"__fish_use_subcommand"}
		here = next
	case len(n.subs) > 0:
		next = append(here[:len(here):len(here)], "not __fish_seen_subcommand_from "+strings.Join(n.names(), " "))
		here = next
	}
	line := func(when []string, format string, args ...any) {
		fmt.Fprintf(out, "complete -c %s -n %s "+format+"\n", append([]any{program, quoted(strings.Join(when, "; and "))}, args...)...)
	}
	for _, sub := range n.subs {
		line(next, "-a %s -d %s", sub.name, quoted(sub.usage))
	}
	if len(n.words) > 0 {
		line(here, "-a %s", quoted(strings.Join(n.words, " ")))
	}
	for _, f := range n.flags {
		line(here, "%s-d %s", fishFlag(f), quoted(f.usage))
	}
	for _, sub := range n.subs {
		fishNode(out, sub, append(above[:len(above):len(above)], sub.name), program)
	}
}

func fishFlag(f flag) string {
	var out strings.Builder
	for _, name := range f.names {
		if len(name) == 1 {
			fmt.Fprintf(&out, "-s %s ", name)
		} else {
			fmt.Fprintf(&out, "-l %s ", name)
		}
	}
	switch {
	case f.files:
		out.WriteString("-r -F ")
	case f.value != "" && !f.optional:
		out.WriteString("-x ")
	}
	if len(f.choices) > 0 {
		fmt.Fprintf(&out, "-a %s ", quoted(strings.Join(f.choices, " ")))
	}
	return out.String()
}
