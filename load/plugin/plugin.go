package plugin

import (
	"time"

	"simplex/load"
	"simplex/load/document"
	"simplex/state"
)

// The kinds of plugins that a descriptor can name.
const (
	KindMCP  = "mcp"  // a toolset: an MCP server on standard input and output
	KindHook = "hook" // a loop hook: a program that gets events as JSON lines
)

// Program is what every plugin is: a program that the worker starts. Nothing here
// was looked at on disk but the descriptor and the configuration file.
type Program struct {
	Name        string
	Description string
	File        string // the descriptor
	Dir         string // the directory it stands in; absolute
	Command     string // a bare name (for PATH) or an absolute path
	Args        []string
	// Env is KEY=VALUE, in the order of the names; InheritEnv names variables of the
	// worker that are passed on. Nothing else is, but for BaseEnv.
	Env              []string
	InheritEnv       []string
	WorkingDirectory string        // absolute
	Grace            time.Duration // between asking it to end and killing it
	MaxRestarts      int           // in the worker's life; 0: never
	// Config is `config` of the configuration file that the host gave the plugin;
	// `{}` if there is none.
	Config state.Object
	doc    *document.Tree
}

// Fault is err as the fault of the value at path (slash form) of the descriptor, with
// its file and line.
func (p Program) Fault(path string, err error) error { return p.doc.Fault(path, err) }

// BaseEnv names the variables that every plugin gets, where the worker has them.
func BaseEnv() []string {
	return []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
}

// Environment is the whole environment of the program: BaseEnv and InheritEnv as the
// worker has them, then Env.
func (p Program) Environment(env load.Env) []string {
	var out []string
	for _, name := range append(BaseEnv(), p.InheritEnv...) {
		if value, ok := env.Lookup(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return append(out, p.Env...)
}

// ConfigVariable is how a toolset's server gets its Config, as JSON.
const ConfigVariable = "SIMPLEX_PLUGIN_CONFIG"

// Environment is Program.Environment and, where there is a Config, ConfigVariable.
func (p Toolset) Environment(env load.Env) []string {
	out := p.Program.Environment(env)
	if p.Config.IsSet() && p.Config != state.EmptyObject() {
		out = append(out, ConfigVariable+"="+p.Config.String())
	}
	return out
}

// Toolset is an enabled toolset (kind mcp).
type Toolset struct {
	Program
	Prefix         string          // put before the server's tool names
	Tools          map[string]Tool // by the server's name of the tool
	Trust          []string        // from the host: tools by the server's name
	StartTimeout   time.Duration
	CallTimeout    time.Duration
	MaxResultBytes int // of a result's text, and of all its other content
}

// Tool is what a descriptor says of one tool.
type Tool struct {
	Type     state.InvokeType     // serial_write unless said otherwise
	Security state.InvokeSecurity // require_confirm unless said otherwise
	Offer    bool                 // false: the model does not see it
}

// Tool gives the rules of a tool: the descriptor's where it has some, the defaults
// otherwise, and trusted where the host says so.
func (p Toolset) Tool(name string) Tool {
	tool, ok := p.Tools[name]
	if !ok {
		tool = Tool{Type: state.SerialWrite, Security: state.RequireConfirm, Offer: true}
	}
	for _, trusted := range p.Trust {
		if trusted == name {
			tool.Security = state.Trusted
		}
	}
	return tool
}

// Hook is an enabled loop hook (kind hook).
type Hook struct {
	Program
	Events         []string // names of loop events; whether they exist is the caller's knowledge
	Deadline       time.Duration
	FailOpen       bool // on_failure: continue
	MaxAnswerBytes int
}

// Toolsets reads the descriptors of the enabled toolsets, in the order of the list.
// It starts nothing. Without enabled ones it does not look at the directories. An
// error names what was found instead, or file, line and key.
func Toolsets(p load.Plugins, env load.Env) ([]Toolset, error) {
	var out []Toolset
	for i, enabled := range p.Tools {
		c := category{"tools", KindMCP}
		r, err := openDescriptor(p.ToolDirs, c, enabled.Name)
		if err != nil {
			return nil, p.Fault(c.path(i), err)
		}
		plugin := r.toolset(enabled.Trust)
		if err := r.done(); err != nil {
			return nil, err
		}
		plugin.Config, err = toolConfig(enabled, env)
		if err != nil {
			return nil, p.Fault(c.path(i)+"/schema_directory", err)
		}
		out = append(out, plugin)
	}
	return out, nil
}

// Hooks is Toolsets for the enabled loop hooks.
func Hooks(p load.Plugins, env load.Env) ([]Hook, error) {
	var out []Hook
	for i, enabled := range p.Hooks {
		c := category{"loop_hooks", KindHook}
		r, err := openDescriptor(p.HookDirs, c, enabled.Name)
		if err != nil {
			return nil, p.Fault(c.path(i), err)
		}
		plugin := r.hook()
		if err := r.done(); err != nil {
			return nil, err
		}
		plugin.Config, err = hookConfig(enabled, env)
		if err != nil {
			return nil, p.Fault(c.path(i)+"/config_file", err)
		}
		out = append(out, plugin)
	}
	return out, nil
}
