package load

import (
	"errors"
	"time"

	"simplex/state"
)

// The kinds of plugins that a descriptor can name.
const (
	PluginMCP  = "mcp"  // a toolset: an MCP server on standard input and output
	PluginHook = "hook" // a loop hook: a program that gets events as JSON lines
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
	doc    *Tree
}

// Fault is err as the fault of the value at path (slash form) of the descriptor, with
// its file and line.
func (p Program) Fault(path string, err error) error { return p.doc.fault(path, err) }

// BaseEnv names the variables that every plugin gets, where the worker has them.
func BaseEnv() []string {
	return []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}
}

// Environment is the whole environment of the program: BaseEnv and InheritEnv as the
// worker has them, then Env.
func (p Program) Environment(env Env) []string {
	var out []string
	for _, name := range append(BaseEnv(), p.InheritEnv...) {
		if value, ok := env.lookup(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return append(out, p.Env...)
}

// ConfigVariable is how a toolset's server gets its Config, as JSON.
const ConfigVariable = "SIMPLEX_PLUGIN_CONFIG"

// Environment is Program.Environment and, where there is a Config, ConfigVariable.
func (p ToolPlugin) Environment(env Env) []string {
	out := p.Program.Environment(env)
	if p.Config.IsSet() && p.Config != state.EmptyObject() {
		out = append(out, ConfigVariable+"="+p.Config.String())
	}
	return out
}

// ToolPlugin is an enabled toolset (kind mcp).
type ToolPlugin struct {
	Program
	Prefix         string                // put before the server's tool names
	Tools          map[string]PluginTool // by the server's name of the tool
	Trust          []string              // from the host: tools by the server's name
	StartTimeout   time.Duration
	CallTimeout    time.Duration
	MaxResultBytes int // of a result's text, and of all its other content
}

// PluginTool is what a descriptor says of one tool.
type PluginTool struct {
	Type     state.InvokeType     // serial_write unless said otherwise
	Security state.InvokeSecurity // require_confirm unless said otherwise
	Offer    bool                 // false: the model does not see it
}

// Tool gives the rules of a tool: the descriptor's where it has some, the defaults
// otherwise, and trusted where the host says so.
func (p ToolPlugin) Tool(name string) PluginTool {
	tool, ok := p.Tools[name]
	if !ok {
		tool = PluginTool{Type: state.SerialWrite, Security: state.RequireConfirm, Offer: true}
	}
	for _, trusted := range p.Trust {
		if trusted == name {
			tool.Security = state.Trusted
		}
	}
	return tool
}

// HookPlugin is an enabled loop hook (kind hook).
type HookPlugin struct {
	Program
	Events         []string // names of loop events; whether they exist is the caller's knowledge
	Deadline       time.Duration
	FailOpen       bool // on_failure: continue
	MaxAnswerBytes int
}

// fault puts an error that names no document to the entry of the configuration that
// brought it about.
func (p Plugins) fault(path string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return p.doc.fault(path, err)
}

// ToolPlugins reads the descriptors of the enabled toolsets, in the order of the list.
// It starts nothing. Without enabled ones it does not look at the directories. An
// error names what was found instead, or file, line and key.
func ToolPlugins(p Plugins, env Env) ([]ToolPlugin, error) {
	var out []ToolPlugin
	for i, enabled := range p.Tools {
		c := category{"tools", PluginMCP}
		r, err := openDescriptor(p.ToolDirs, c, enabled.Name)
		if err != nil {
			return nil, p.fault(c.path(i), err)
		}
		plugin := r.toolPlugin(enabled.Trust)
		if err := r.done(); err != nil {
			return nil, err
		}
		plugin.Config, err = toolConfig(enabled, env)
		if err != nil {
			return nil, p.fault(c.path(i)+"/schema_directory", err)
		}
		out = append(out, plugin)
	}
	return out, nil
}

// HookPlugins is ToolPlugins for the enabled loop hooks.
func HookPlugins(p Plugins, env Env) ([]HookPlugin, error) {
	var out []HookPlugin
	for i, enabled := range p.Hooks {
		c := category{"loop_hooks", PluginHook}
		r, err := openDescriptor(p.HookDirs, c, enabled.Name)
		if err != nil {
			return nil, p.fault(c.path(i), err)
		}
		plugin := r.hookPlugin()
		if err := r.done(); err != nil {
			return nil, err
		}
		plugin.Config, err = hookConfig(enabled, env)
		if err != nil {
			return nil, p.fault(c.path(i)+"/config_file", err)
		}
		out = append(out, plugin)
	}
	return out, nil
}
