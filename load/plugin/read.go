package plugin

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"simplex/load/document"
	"simplex/load/schema"
	"simplex/state"
)

// descriptor reads one plugin.yaml. Its keys are closed: one that is not known is an
// error, as is everything else that is wrong; all are told at once by done.
type descriptor struct {
	*schema.Checker
	program Program
	known   []string
}

func newDescriptor(tree *document.Tree, name, kind string) *descriptor {
	d := &descriptor{Checker: &schema.Checker{Tree: tree}}
	dir, err := filepath.Abs(filepath.Dir(tree.Name))
	if err != nil {
		dir = filepath.Dir(tree.Name)
	}
	d.program = Program{File: tree.Name, Dir: dir, doc: tree}
	p := &d.program
	p.Name = d.word("name", schema.Key{Required: true, Enum: []string{name}})
	d.word("kind", schema.Key{Required: true, Enum: []string{kind}})
	p.Description = d.word("description", schema.Key{})
	p.Command = d.word("command", schema.Key{Required: true, NonEmpty: true, Type: schema.Path})
	if strings.Contains(p.Command, "/") {
		p.Command = schema.Resolve(dir, p.Command)
	}
	p.Args = d.words("args", schema.Key{Type: schema.Path})
	p.Env = d.variables()
	p.InheritEnv = d.words("inherit_env", schema.Key{NonEmpty: true, Type: schema.Name})
	p.WorkingDirectory = schema.Resolve(dir, d.word("working_directory", schema.Key{Default: ".", NonEmpty: true, Type: schema.Path}))
	p.Grace = d.milliseconds("grace_ms", 5000, 0)
	p.MaxRestarts = d.number("max_restarts", 3, 0)
	return d
}

func (d *descriptor) toolset(trust []string) Toolset {
	return Toolset{
		Program:        d.program,
		Prefix:         d.prefix(),
		Tools:          d.tools(trust),
		Trust:          trust,
		StartTimeout:   d.milliseconds("start_timeout_ms", 30000, 1),
		CallTimeout:    d.milliseconds("call_timeout_ms", 120000, 1),
		MaxResultBytes: d.number("max_result_bytes", 64<<10, 1),
	}
}

func (d *descriptor) hook() Hook {
	h := Hook{
		Program:        d.program,
		Events:         d.words("events", schema.Key{NonEmpty: true}),
		Deadline:       d.milliseconds("deadline_ms", 5000, 1),
		FailOpen:       d.word("on_failure", schema.Key{Default: "fail", Enum: []string{"fail", "continue"}}) == "continue",
		MaxAnswerBytes: d.number("max_answer_bytes", 16<<20, 1),
	}
	if len(h.Events) == 0 && len(d.Errs) == 0 {
		d.Fail(0, "/events", "is required and must not be empty")
	}
	return h
}

// done gives everything that is wrong, unknown keys included.
func (d *descriptor) done() error {
	d.Closed(d.Tree.Root, "", d.known...)
	return d.Err()
}

func (d *descriptor) get(name string) *document.Node {
	d.known = append(d.known, name)
	return d.Tree.Root.Get(name)
}

func (d *descriptor) word(name string, k schema.Key) string {
	n := d.get(name)
	if n == nil {
		if k.Required {
			d.Fail(0, "/"+name, "is required")
		}
		return k.Default
	}
	d.Text(n, &k, "/"+name)
	return n.Text
}

func (d *descriptor) words(name string, k schema.Key) []string {
	n := d.get(name)
	if n == nil || !d.Kind(n, document.KindSequence, "/"+name) {
		return nil
	}
	var out []string
	for i, item := range n.Items {
		d.Text(item, &k, "/"+name+"/"+strconv.Itoa(i))
		out = append(out, item.Text)
	}
	return out
}

func (d *descriptor) number(name string, fallback int, lowest int64) int {
	n := d.get(name)
	if n == nil {
		return fallback
	}
	d.Integer(n, &schema.Key{Min: lowest}, "/"+name)
	i, _ := strconv.Atoi(n.Text)
	return i
}

func (d *descriptor) milliseconds(name string, fallback int, lowest int64) time.Duration {
	return time.Duration(d.number(name, fallback, lowest)) * time.Millisecond
}

func (d *descriptor) variables() []string {
	n := d.get("env")
	if n == nil || !d.Kind(n, document.KindMapping, "/env") {
		return nil
	}
	var out []string
	for _, m := range n.Members {
		path := document.Join("/env", m.Name)
		if !schema.IsName(m.Name) {
			d.Fail(m.Line, path, "is no name of a variable: it must consist of letters, digits, _ and -")
		}
		d.Text(m.Value, &schema.Key{Type: schema.Path}, path)
		out = append(out, m.Name+"="+m.Value.Text)
	}
	slices.Sort(out)
	return out
}

func (d *descriptor) prefix() string {
	n := d.get("tool_prefix")
	if n == nil {
		return ""
	}
	d.Text(n, &schema.Key{Type: schema.Name, NonEmpty: true}, "/tool_prefix")
	return n.Text
}

func (d *descriptor) tools(trust []string) map[string]Tool {
	n := d.get("tools")
	if n == nil || !d.Kind(n, document.KindMapping, "/tools") {
		return nil
	}
	out := make(map[string]Tool, len(n.Members))
	for _, m := range n.Members {
		path := document.Join("/tools", m.Name)
		if !d.Kind(m.Value, document.KindMapping, path) {
			continue
		}
		tool := d.tool(m.Value, path)
		if tool.Security == state.Trusted && !slices.Contains(trust, m.Name) {
			d.Fail(m.Value.Get("security").Line, path+"/security",
				"a plugin may not call its own tool trusted; the host's configuration does, by `trust` in the enable entry")
		}
		out[m.Name] = tool
	}
	return out
}

func (d *descriptor) tool(n *document.Node, path string) Tool {
	d.Closed(n, path, "type", "security", "offer")
	tool := Tool{Type: state.SerialWrite, Security: state.RequireConfirm, Offer: true}
	if v := n.Get("type"); v != nil {
		d.Text(v, &schema.Key{Enum: []string{string(state.ReadOnly), string(state.ParallWrite), string(state.SerialWrite)}}, path+"/type")
		tool.Type = state.InvokeType(v.Text)
	}
	if v := n.Get("security"); v != nil {
		d.Text(v, &schema.Key{Enum: []string{string(state.DefaultDeny), string(state.RequireConfirm), string(state.Trusted)}}, path+"/security")
		tool.Security = state.InvokeSecurity(v.Text)
	}
	if v := n.Get("offer"); v != nil && d.Kind(v, document.KindBool, path+"/offer") {
		tool.Offer = v.Text == "true"
	}
	return tool
}
