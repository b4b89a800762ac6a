package completion

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Optional is a flag that may stand alone or carry a value behind "=".
type Optional interface {
	cli.Flag
	// Values are the words that may stand there.
	Values() []string
}

// node is a command: the words before it, and what may follow.
type node struct {
	path  string // such as "simplex state export"
	name  string
	usage string
	subs  []*node
	words []string // arguments that are not flags, where they are known
	flags []flag
}

type flag struct {
	names    []string // "config", "c"
	usage    string
	value    string // the word for its value; "": it takes none
	files    bool   // the value is a file
	choices  []string
	optional bool // the value may be left out, and stands behind "="
}

// tree is the program's commands. Those that take the name of another as an argument are
// in naming.
func tree(app *cli.App, naming ...string) *node {
	root := &node{path: app.Name, name: app.Name, usage: app.Usage, flags: flags(append(app.Flags[:len(app.Flags):len(app.Flags)], cli.HelpFlag, cli.VersionFlag))}
	root.add(app.Commands)
	for _, sub := range root.subs {
		for _, name := range naming {
			if sub.name == name {
				sub.words = root.names()
			}
		}
	}
	return root
}

func (n *node) add(commands []*cli.Command) {
	for _, c := range commands {
		if c.Hidden {
			continue
		}
		sub := &node{path: n.path + " " + c.Name, name: c.Name, usage: c.Usage, flags: flags(append(c.Flags[:len(c.Flags):len(c.Flags)], cli.HelpFlag))}
		if strings.Contains(c.ArgsUsage, "|") {
			sub.words = strings.Split(c.ArgsUsage, "|")
		}
		sub.add(c.Subcommands)
		n.subs = append(n.subs, sub)
	}
}

func (n *node) names() []string {
	var out []string
	for _, sub := range n.subs {
		out = append(out, sub.name)
	}
	return out
}

// all is the node and what is below it, parents first.
func (n *node) all() []*node {
	out := []*node{n}
	for _, sub := range n.subs {
		out = append(out, sub.all()...)
	}
	return out
}

func flags(from []cli.Flag) []flag {
	var out []flag
	seen := map[string]bool{}
	for _, f := range from {
		if seen[f.Names()[0]] {
			continue
		}
		seen[f.Names()[0]] = true
		out = append(out, describe(f))
	}
	return out
}

func describe(f cli.Flag) flag {
	out := flag{names: f.Names()}
	if d, ok := f.(cli.DocGenerationFlag); ok {
		out.usage = d.GetUsage()
		if d.TakesValue() {
			out.value = "VALUE"
		}
	}
	if before, rest, found := strings.Cut(out.usage, "`"); found {
		word, after, _ := strings.Cut(rest, "`")
		out.usage = before + word + after
		out.value = word
	}
	switch out.value {
	case "FILE":
		out.files = true
	case "FORMAT":
		out.choices = []string{"text", "json"}
	case "LEVEL":
		out.choices = []string{"debug", "info", "warn", "error"}
	}
	if o, ok := f.(Optional); ok {
		out.optional, out.value, out.choices = true, "VALUE", o.Values()
	}
	return out
}

// typed is a flag's name with its dashes.
func typed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// quoted is text as one word of all three shells, in single quotes. Fish alone reads a
// backslash there; no text of ours has one.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
