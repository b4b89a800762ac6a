package load

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"simplex/state"
)

// descriptor reads one plugin.yaml. Its keys are closed: one that is not known is an
// error, as is everything else that is wrong; all are told at once by done.
type descriptor struct {
	*checker
	program Program
	known   []string
}

func newDescriptor(tree *Tree, name, kind string) *descriptor {
	d := &descriptor{checker: &checker{tree: tree}}
	dir, err := filepath.Abs(filepath.Dir(tree.Name))
	if err != nil {
		dir = filepath.Dir(tree.Name)
	}
	d.program = Program{File: tree.Name, Dir: dir, doc: tree}
	p := &d.program
	p.Name = d.word("name", Key{Required: true, Enum: []string{name}})
	d.word("kind", Key{Required: true, Enum: []string{kind}})
	p.Description = d.word("description", Key{})
	p.Command = d.word("command", Key{Required: true, NonEmpty: true, Type: TypePath})
	if strings.Contains(p.Command, "/") {
		p.Command = relativeTo(dir, p.Command)
	}
	p.Args = d.words("args", Key{Type: TypePath})
	p.Env = d.variables()
	p.InheritEnv = d.words("inherit_env", Key{NonEmpty: true, Type: TypeName})
	p.WorkingDirectory = relativeTo(dir, d.word("working_directory", Key{Default: ".", NonEmpty: true, Type: TypePath}))
	p.Grace = d.milliseconds("grace_ms", 5000, 0)
	p.MaxRestarts = d.number("max_restarts", 3, 0)
	return d
}

func (d *descriptor) toolPlugin(trust []string) ToolPlugin {
	return ToolPlugin{
		Program:        d.program,
		Prefix:         d.prefix(),
		Tools:          d.tools(trust),
		Trust:          trust,
		StartTimeout:   d.milliseconds("start_timeout_ms", 30000, 1),
		CallTimeout:    d.milliseconds("call_timeout_ms", 120000, 1),
		MaxResultBytes: d.number("max_result_bytes", 64<<10, 1),
	}
}

func (d *descriptor) hookPlugin() HookPlugin {
	h := HookPlugin{
		Program:        d.program,
		Events:         d.words("events", Key{NonEmpty: true}),
		Deadline:       d.milliseconds("deadline_ms", 5000, 1),
		FailOpen:       d.word("on_failure", Key{Default: "fail", Enum: []string{"fail", "continue"}}) == "continue",
		MaxAnswerBytes: d.number("max_answer_bytes", 16<<20, 1),
	}
	if len(h.Events) == 0 && len(d.errs) == 0 {
		d.fail(0, "/events", "is required and must not be empty")
	}
	return h
}

// done gives everything that is wrong, unknown keys included.
func (d *descriptor) done() error {
	d.closed(d.tree.Root, "", d.known...)
	if len(d.errs) > 0 {
		return d.errs.sorted()
	}
	return nil
}

func (d *descriptor) get(name string) *Node {
	d.known = append(d.known, name)
	return d.tree.Root.Get(name)
}

func (d *descriptor) word(name string, k Key) string {
	n := d.get(name)
	if n == nil {
		if k.Required {
			d.fail(0, "/"+name, "is required")
		}
		return k.Default
	}
	d.text(n, &k, "/"+name)
	return n.Text
}

func (d *descriptor) words(name string, k Key) []string {
	n := d.get(name)
	if n == nil || !d.kind(n, KindSequence, "/"+name) {
		return nil
	}
	var out []string
	for i, item := range n.Items {
		d.text(item, &k, "/"+name+"/"+strconv.Itoa(i))
		out = append(out, item.Text)
	}
	return out
}

func (d *descriptor) number(name string, fallback int, lowest int64) int {
	n := d.get(name)
	if n == nil {
		return fallback
	}
	d.integer(n, &Key{Min: lowest}, "/"+name)
	i, _ := strconv.Atoi(n.Text)
	return i
}

func (d *descriptor) milliseconds(name string, fallback int, lowest int64) time.Duration {
	return time.Duration(d.number(name, fallback, lowest)) * time.Millisecond
}

func (d *descriptor) variables() []string {
	n := d.get("env")
	if n == nil || !d.kind(n, KindMapping, "/env") {
		return nil
	}
	var out []string
	for _, m := range n.Members {
		path := join("/env", m.Name)
		if !plainName(m.Name) {
			d.fail(m.Line, path, "is no name of a variable: it must consist of letters, digits, _ and -")
		}
		d.text(m.Value, &Key{Type: TypePath}, path)
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
	d.text(n, &Key{Type: TypeName, NonEmpty: true}, "/tool_prefix")
	return n.Text
}

func (d *descriptor) tools(trust []string) map[string]PluginTool {
	n := d.get("tools")
	if n == nil || !d.kind(n, KindMapping, "/tools") {
		return nil
	}
	out := make(map[string]PluginTool, len(n.Members))
	for _, m := range n.Members {
		path := join("/tools", m.Name)
		if !d.kind(m.Value, KindMapping, path) {
			continue
		}
		tool := d.tool(m.Value, path)
		if tool.Security == state.Trusted && !slices.Contains(trust, m.Name) {
			d.fail(m.Value.Get("security").Line, path+"/security",
				"a plugin may not call its own tool trusted; the host's configuration does, by `trust` in the enable entry")
		}
		out[m.Name] = tool
	}
	return out
}

func (d *descriptor) tool(n *Node, path string) PluginTool {
	d.closed(n, path, "type", "security", "offer")
	tool := PluginTool{Type: state.SerialWrite, Security: state.RequireConfirm, Offer: true}
	if v := n.Get("type"); v != nil {
		d.text(v, &Key{Enum: []string{string(state.ReadOnly), string(state.ParallWrite), string(state.SerialWrite)}}, path+"/type")
		tool.Type = state.InvokeType(v.Text)
	}
	if v := n.Get("security"); v != nil {
		d.text(v, &Key{Enum: []string{string(state.DefaultDeny), string(state.RequireConfirm), string(state.Trusted)}}, path+"/security")
		tool.Security = state.InvokeSecurity(v.Text)
	}
	if v := n.Get("offer"); v != nil && d.kind(v, KindBool, path+"/offer") {
		tool.Offer = v.Text == "true"
	}
	return tool
}
