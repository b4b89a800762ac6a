package docs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

//go:generate go test -run TestToolsPage -update-tools .

var updateTools = flag.Bool("update-tools", false, "write tools.md anew")

const toolsPage = "tools.md"

// toolset is one set of the page, and its tools in catalogue order.
type toolset struct {
	dir     string // below tools/
	name    string
	offered string
	tools   []string
}

var toolsets = []toolset{
	{"process", "process", "always", []string{"spawn_process", "run_command", "poll_process", "read_process", "send_process"}},
	{"reading", "reading", "always", []string{"read_text"}},
	{"editing", "editing", "always", []string{"str_replace_edit"}},
	{"modality", "modality_assist", "where the configuration has `modality_assist_model`", []string{"modality_assist"}},
	{"hubcall", "hub_remote_call", "where the configuration has `hub_remote_call`, but not by `simplex chat`, which has neither plans nor subagents", []string{"plan", "subagent_fork", "subagent_send", "subagent_receive"}},
}

// declared is a tool's YAML file.
type declared struct {
	Name        string    `yaml:"name"`
	Description string    `yaml:"description"`
	Type        string    `yaml:"type"`
	Security    string    `yaml:"security"`
	Config      yaml.Node `yaml:"config"`
	Schema      clause    `yaml:"argument_schema"`
}

// clause is a schema object of the closed vocabulary.
type clause struct {
	Type        string      `yaml:"type"`
	Description string      `yaml:"description"`
	Default     yaml.Node   `yaml:"default"`
	Enum        []yaml.Node `yaml:"enum"`
	Minimum     *int64      `yaml:"minimum"`
	Maximum     *int64      `yaml:"maximum"`
	MinLength   *int64      `yaml:"minLength"`
	MaxLength   *int64      `yaml:"maxLength"`
	MinItems    *int64      `yaml:"minItems"`
	Pattern     string      `yaml:"pattern"`
	Items       *clause     `yaml:"items"`
	Required    []string    `yaml:"required"`
	Properties  ordered     `yaml:"properties"`
	Additional  *bool       `yaml:"additionalProperties"`
	AnyOf       []yaml.Node `yaml:"anyOf"`
}

// ordered are properties in the order in which the file has them.
type ordered []property

type property struct {
	name string
	clause
}

func (o *ordered) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		p := property{name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&p.clause); err != nil {
			return err
		}
		*o = append(*o, p)
	}
	return nil
}

// TestToolsPage holds tools.md against the declarations of all tools.
func TestToolsPage(t *testing.T) {
	want := renderTools(t)
	if *updateTools {
		if err := os.WriteFile(toolsPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(toolsPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the declarations say: run `go generate ./docs`", toolsPage)
	}
}

// TestToolsPageHasEveryDeclaration fails where a set or a tool is not listed above.
func TestToolsPageHasEveryDeclaration(t *testing.T) {
	files, err := filepath.Glob("../tools/*/schema/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d declarations, %v", len(files), err)
	}
	for _, file := range files {
		tool := strings.TrimSuffix(filepath.Base(file), ".yaml")
		dir := filepath.Base(filepath.Dir(filepath.Dir(file)))
		known := slices.ContainsFunc(toolsets, func(s toolset) bool {
			return s.dir == dir && (tool == "skill" || slices.Contains(s.tools, tool))
		})
		if !known {
			t.Errorf("%s is on no page: list it in this test", file)
		}
	}
}

func renderTools(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(`# Tools

<!-- Generated from tools/*/schema/*.yaml by go generate ./docs. Change the declarations instead. -->

What the model may call. A call names a tool and gives its arguments as one JSON object. Arguments are never converted (` + "`\"5\"`" + ` is no integer), ` + "`null`" + ` counts as absent, and an unknown one is refused. Where a default applies, it is recorded with the call (but for ` + "`cursor` and `limit` of `subagent_receive`" + `).

**Scheduling**: of the calls of one model step, those of class ` + "`serial_write`" + ` run first, one after the other; then those of class ` + "`read_only` or `parall_write`" + ` run together. **Security**: ` + "`trusted`" + ` runs without asking, ` + "`require_confirm`" + ` needs an approval.

| set | tool | scheduling | security |
| --- | --- | --- | --- |
`)
	all := map[string]declared{}
	for _, set := range toolsets {
		for _, name := range set.tools {
			d := readDeclared(t, filepath.Join("../tools", set.dir, "schema", name+".yaml"))
			all[name] = d
			fmt.Fprintf(&b, "| `%s` | [`%s`](#%s) | `%s`%s | `%s` |\n", set.name, name, name, d.Type, schedulingNote(name), d.Security)
		}
	}
	for _, set := range toolsets {
		fmt.Fprintf(&b, "\n## Set `%s`\n\nOffered %s. The declarations are built in; `SIMPLEX_%s_SCHEMA_DIR` names a directory to read instead.\n", set.name, set.offered, strings.ToUpper(set.name))
		for _, name := range set.tools {
			all[name].render(&b)
		}
	}
	return b.Bytes()
}

// schedulingNote is for the one tool whose class depends on its arguments.
func schedulingNote(tool string) string {
	if tool == "plan" {
		return "; `read_only` for `read`"
	}
	return ""
}

func readDeclared(t *testing.T, file string) declared {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d declared
	if err := yaml.Unmarshal(raw, &d); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if d.Type == "" || d.Security == "" {
		t.Errorf("%s: type and security are missing", file)
	}
	return d
}

func (d declared) render(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n### `%s`\n\n%s\n", d.Name, strings.ReplaceAll(strings.TrimSpace(d.Description), "\n", "\n\n"))
	if len(d.Schema.Properties) == 0 {
		b.WriteString("\nNo arguments.\n")
	} else {
		b.WriteString("\n| argument | type | default | rule | meaning |\n| --- | --- | --- | --- | --- |\n")
		rows(b, "", d.Schema)
		for _, p := range d.Schema.Properties {
			if text := flow(p.Default); isLong(text) {
				fmt.Fprintf(b, "\nThe default of `%s`:\n\n> %s\n", p.name, text)
			}
		}
	}
	if len(d.Schema.AnyOf) > 0 {
		b.WriteString("\nBeyond that, one of these must hold:\n\n")
		for _, branch := range d.Schema.AnyOf {
			fmt.Fprintf(b, "- `%s`\n", flow(branch))
		}
	}
	if len(d.Config.Content) > 0 {
		fmt.Fprintf(b, "\nHost settings in `config` of the declaration: `%s`.\n", flow(d.Config))
	}
}

// rows writes one row for each property, and those inside it below it.
func rows(b *bytes.Buffer, path string, c clause) {
	for _, p := range c.Properties {
		fallback := "—"
		if !p.Default.IsZero() {
			fallback = "`" + flow(p.Default) + "`"
		}
		if slices.Contains(c.Required, p.name) {
			fallback = "required"
		}
		if isLong(fallback) {
			fallback = "below"
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s | %s | %s |\n", path, p.name, p.kind(), fallback, p.rule(), cell(p.Description))
		rows(b, path+p.name+".", p.clause)
		if p.Items != nil {
			rows(b, path+p.name+"[].", *p.Items)
		}
	}
}

// isLong tells whether a default is too long for a table.
func isLong(s string) bool { return len(s) > 60 }

func (c clause) kind() string {
	if c.Type == "array" {
		return "list of " + c.Items.Type + "s"
	}
	return c.Type
}

// rule words the limiting clauses.
func (c clause) rule() string {
	var out []string
	if len(c.Enum) > 0 {
		var words []string
		for _, v := range c.Enum {
			words = append(words, "`"+flow(v)+"`")
		}
		out = append(out, strings.Join(words, " "))
	}
	for _, limit := range []struct {
		word string
		n    *int64
	}{
		{"≥ %d", c.Minimum},
		{"≤ %d", c.Maximum},
		{"at least %d characters", c.MinLength},
		{"at most %d characters", c.MaxLength},
		{"at least %d entries", c.MinItems},
	} {
		switch {
		case limit.n == nil:
		case *limit.n == 1 && strings.HasPrefix(limit.word, "at least"):
			out = append(out, "not empty")
		default:
			out = append(out, fmt.Sprintf(limit.word, *limit.n))
		}
	}
	if c.Pattern != "" {
		out = append(out, "`"+c.Pattern+"`")
	}
	return strings.Join(out, ", ")
}

// flow is a YAML node on one line.
func flow(n yaml.Node) string {
	if n.IsZero() {
		return ""
	}
	flatten(&n)
	raw, err := yaml.Marshal(&n)
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(raw)), " ")
}

func flatten(n *yaml.Node) {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	for _, inner := range n.Content {
		flatten(inner)
	}
}

// cell is a text that may stand in a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
