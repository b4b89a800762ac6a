package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"simplex/state"
)

// plant writes files below a fresh directory and gives that.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestToolPluginWhole(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{"files/plugin.yaml": `
name: files
kind: mcp
description: Files of the archive
command: ./server
args: [--root, "yes"]
env: { MODE: "1", ALSO: a=b }
inherit_env: [ARCHIVE_TOKEN]
working_directory: run
grace_ms: 100
max_restarts: 1
tool_prefix: files_
start_timeout_ms: 1000
call_timeout_ms: 2000
max_result_bytes: 1024
tools:
  list: { type: read_only, security: trusted }
  write: { type: parall_write }
  drop: { security: default_deny, offer: false }
`, "files/config.yaml": "name: files\ndescription: d\nconfig: { depth: 3 }\n"})
	p := Plugins{ToolDirs: []string{root}, Tools: []EnabledTool{{Name: "files", SchemaDirectory: filepath.Join(root, "files"), Trust: []string{"list", "other"}}}}
	got, err := ToolPlugins(p, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	config, _ := state.ParseObject([]byte(`{"depth":3}`))
	dir := filepath.Join(root, "files")
	want := []ToolPlugin{{
		Program: Program{
			Name: "files", Description: "Files of the archive", File: filepath.Join(dir, "plugin.yaml"), Dir: dir,
			Command: filepath.Join(dir, "server"), Args: []string{"--root", "yes"}, Env: []string{"ALSO=a=b", "MODE=1"},
			InheritEnv: []string{"ARCHIVE_TOKEN"}, WorkingDirectory: filepath.Join(dir, "run"),
			Grace: 100 * time.Millisecond, MaxRestarts: 1, Config: config,
		},
		Prefix: "files_",
		Tools: map[string]PluginTool{
			"list":  {state.ReadOnly, state.Trusted, true},
			"write": {state.ParallWrite, state.RequireConfirm, true},
			"drop":  {state.SerialWrite, state.DefaultDeny, false},
		},
		Trust: []string{"list", "other"}, StartTimeout: time.Second, CallTimeout: 2 * time.Second, MaxResultBytes: 1024,
	}}
	got[0].doc = nil
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Program{}), cmp.Comparer(func(a, b state.Object) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if env := got[0].Environment(environment(map[string]string{"ARCHIVE_TOKEN": "t"})); strings.Join(env, " ") != `ARCHIVE_TOKEN=t ALSO=a=b MODE=1 SIMPLEX_PLUGIN_CONFIG={"depth":3}` {
		t.Errorf("environment: %q", env)
	}
	for name, want := range map[string]PluginTool{
		"list":  {state.ReadOnly, state.Trusted, true},
		"other": {state.SerialWrite, state.Trusted, true},
		"rest":  {state.SerialWrite, state.RequireConfirm, true},
	} {
		if got := got[0].Tool(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestPluginDefaults(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{
		"t/plugin.yaml": "name: t\nkind: mcp\ncommand: server\n",
		"h/plugin.yaml": "name: h\nkind: hook\ncommand: bin/hook\nevents: [RunStarted]\n",
	})
	env := environment(map[string]string{"PATH": "/bin", "HOME": "/h", "SECRET": "s", "LANG": "C"})
	tools, err := ToolPlugins(Plugins{ToolDirs: []string{root}, Tools: []EnabledTool{{Name: "t"}}}, env)
	if err != nil {
		t.Fatal(err)
	}
	one := tools[0]
	if one.Command != "server" || one.WorkingDirectory != filepath.Join(root, "t") || one.Grace != 5*time.Second ||
		one.MaxRestarts != 3 || one.StartTimeout != 30*time.Second || one.CallTimeout != 2*time.Minute ||
		one.MaxResultBytes != 65536 || one.Config != state.EmptyObject() {
		t.Errorf("%+v", one)
	}
	if got := strings.Join(one.Environment(env), " "); got != "PATH=/bin HOME=/h LANG=C" {
		t.Errorf("environment: %s", got)
	}
	one.InheritEnv, one.Env = []string{"SECRET"}, []string{"A=b"}
	if got := strings.Join(one.Environment(env), " "); got != "PATH=/bin HOME=/h LANG=C SECRET=s A=b" {
		t.Errorf("environment: %s", got)
	}
	hooks, err := HookPlugins(Plugins{HookDirs: []string{root}, Hooks: []EnabledHook{{Name: "h"}}}, env)
	if err != nil {
		t.Fatal(err)
	}
	h := hooks[0]
	if h.Command != filepath.Join(root, "h", "bin/hook") || h.Deadline != 5*time.Second || h.FailOpen || h.MaxAnswerBytes != 16<<20 {
		t.Errorf("%+v", h)
	}
}

func TestPluginDescriptorErrors(t *testing.T) {
	t.Parallel()
	const tool = "name: p\nkind: mcp\ncommand: c\n"
	const hook = "name: p\nkind: hook\ncommand: c\n"
	for _, c := range []struct{ kind, text, want string }{
		{PluginMCP, tool + "autostart: true\n", ":4: /autostart: is not a known key"},
		{PluginMCP, tool + "arg: [x]\n", ":4: /arg: is not a known key; the nearest is /args"},
		{PluginMCP, tool + "events: [RunStarted]\n", ":4: /events: is not a known key"},
		{PluginMCP, "name: q\nkind: mcp\ncommand: c\n", ":1: /name: must be \"p\""},
		{PluginMCP, "kind: mcp\ncommand: c\n", ": /name: is required"},
		{PluginMCP, hook, ":2: /kind: must be \"mcp\""},
		{PluginHook, tool + "events: [RunStarted]\n", ":2: /kind: must be \"hook\""},
		{PluginMCP, "name: p\nkind: mcp\n", ": /command: is required"},
		{PluginMCP, "name: p\nkind: mcp\ncommand: ''\n", ":3: /command: must not be empty"},
		{PluginMCP, tool + "args: c\n", ":4: /args: must be a list, not text"},
		{PluginMCP, tool + "args: [1]\n", ":4: /args/0: must be text, but YAML reads this unquoted value as an integer; put it in quotes"},
		{PluginMCP, tool + "env: { A: on }\n", ":4: /env/A: must be text, but YAML reads this unquoted value as a boolean; put it in quotes"},
		{PluginMCP, tool + "env: { 'A=B': x }\n", ":4: /env/A=B: is no name of a variable: it must consist of letters, digits, _ and -"},
		{PluginMCP, tool + "inherit_env: ['']\n", ":4: /inherit_env/0: must not be empty"},
		{PluginMCP, tool + "call_timeout_ms: 0\n", ":4: /call_timeout_ms: must be in the range 1..2147483647"},
		{PluginMCP, tool + "tools: { t: { security: trusted } }\n", ":4: /tools/t/security: a plugin may not call its own tool trusted; the host's configuration does, by `trust` in the enable entry"},
		{PluginMCP, tool + "tools: { t: { security: safe } }\n", ":4: /tools/t/security: must be one of default_deny, require_confirm, trusted"},
		{PluginMCP, tool + "tools: { t: { type: parallel } }\n", ":4: /tools/t/type: must be one of read_only, parall_write, serial_write"},
		{PluginMCP, tool + "tools: { t: { confirm: false } }\n", ":4: /tools/t/confirm: is not a known key"},
		{PluginMCP, tool + "tools: { t: { secure: trusted } }\n", ":4: /tools/t/secure: is not a known key; the nearest is /tools/t/security"},
		{PluginMCP, tool + "tools: { t: }\n", ":4: /tools/t: must be a mapping, not null"},
		{PluginMCP, tool + "tool_prefix: 'a b'\n", ":4: /tool_prefix: must consist of letters, digits, _ and -"},
		{PluginHook, hook, ": /events: is required and must not be empty"},
		{PluginHook, hook + "events: [RunStarted]\non_failure: ignore\n", ":5: /on_failure: must be one of fail, continue"},
		{PluginHook, hook + "events: RunStarted\n", ":4: /events: must be a list, not text"},
	} {
		root := plant(t, map[string]string{"p/plugin.yaml": c.text})
		p := Plugins{ToolDirs: []string{root}, HookDirs: []string{root}}
		var err error
		if c.kind == PluginMCP {
			p.Tools = []EnabledTool{{Name: "p", Trust: []string{"another"}}}
			_, err = ToolPlugins(p, environment(nil))
		} else {
			p.Hooks = []EnabledHook{{Name: "p"}}
			_, err = HookPlugins(p, environment(nil))
		}
		if want := filepath.Join(root, "p", "plugin.yaml") + c.want; err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, want)
		}
	}
}

func TestPluginDiscovery(t *testing.T) {
	t.Parallel()
	good := "name: %\nkind: mcp\ncommand: /no/such/program\n"
	named := func(name string) string { return strings.ReplaceAll(good, "%", name) }
	first := plant(t, map[string]string{
		"one/plugin.yaml":      named("one"),
		"broken/plugin.yaml":   "{",
		"empty/README":         "",
		"plugin.yaml":          named("root"),
		"deep/in/plugin.yaml":  named("in"),
		"both/plugin.yaml":     named("both"),
		"not a name/README":    "",
		"odd name/plugin.yaml": named("odd name"),
	})
	second := plant(t, map[string]string{"both/plugin.yaml": named("both"), "two/plugin.yaml": named("two")})
	enable := func(names ...string) ([]ToolPlugin, error) {
		p := Plugins{ToolDirs: []string{first, "/no/such/directory", second}}
		for _, name := range names {
			p.Tools = append(p.Tools, EnabledTool{Name: name})
		}
		return ToolPlugins(p, environment(nil))
	}
	got, err := enable("two", "one") // a broken neighbour that nobody wants does no harm
	if err != nil || len(got) != 2 || got[0].Name != "two" || got[1].Name != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"in", "root", "empty", "Two"} {
		_, err := enable("one", name)
		missing, ok := errors.AsType[*MissingPluginError](err)
		at, placed := errors.AsType[*Error](err)
		if !ok || !placed || at.Path != "/plugins/extensions/tools/enable/1" || strings.Join(missing.Found, " ") != "both broken one two" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := enable("both"); err == nil || !strings.Contains(err.Error(), "more than once") {
		t.Errorf("both: %v", err)
	}
	if _, err := enable("broken"); err == nil {
		t.Error("a broken descriptor was taken")
	}
	if got, err := ToolPlugins(Plugins{ToolDirs: []string{"\x00"}}, environment(nil)); err != nil || got != nil {
		t.Errorf("nothing enabled: %v, %v", got, err)
	}
}

func TestPluginFilesAreRegular(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{"big/plugin.yaml": strings.Repeat("#", maxDescriptor+1), "fifo/x": ""})
	if err := unix.Mkfifo(filepath.Join(root, "fifo", "plugin.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"big": "is larger than", "fifo": "is a named pipe, not a regular file"} {
		_, err := ToolPlugins(Plugins{ToolDirs: []string{root}, Tools: []EnabledTool{{Name: name}}}, environment(nil))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestPluginConfigFiles(t *testing.T) {
	t.Parallel()
	root := plant(t, map[string]string{
		"p/plugin.yaml":     "name: p\nkind: hook\ncommand: c\nevents: [RunFinished]\n",
		"good/p.yaml":       "name: p\ndescription: d\nconfig: { a: 1 }\n",
		"env/p/config.yaml": "name: p\ndescription: d\nconfig: { b: 1 }\n",
		"unknown/p.yaml":    "name: p\ndescription: d\nextra: 1\n",
		"other/p.yaml":      "name: q\ndescription: d\n",
		"bare/p.yaml":       "name: p\nconfig: { d: 1 }\n",
		"unnamed/p.yaml":    "description: d\n",
		"exe/schemas/loop/extensions/p/config.yaml": "name: p\ndescription: d\nconfig: { c: 1 }\n",
	})
	read := func(file string, env Env) (string, error) {
		e := EnabledHook{Name: "p"}
		if file != "" {
			e.ConfigFile = filepath.Join(root, file)
		}
		got, err := HookPlugins(Plugins{HookDirs: []string{root}, Hooks: []EnabledHook{e}}, env)
		if err != nil {
			return "", err
		}
		return got[0].Config.String(), nil
	}
	byEnv := environment(map[string]string{hookSchemaVariable: filepath.Join(root, "env")})
	atExe := Env{ExeDir: filepath.Join(root, "exe")}
	for _, c := range []struct {
		file string
		env  Env
		want string
	}{
		{"good/p.yaml", byEnv, `{"a":1}`},
		{"bare/p.yaml", byEnv, `{"d":1}`},
		{"", byEnv, `{"b":1}`},
		{"", atExe, `{"c":1}`},
		{"", environment(nil), `{}`},
	} {
		if got, err := read(c.file, c.env); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.file, got, err, c.want)
		}
	}
	for file, want := range map[string]string{
		"unknown/p.yaml": "/extra: is not a known key", "other/p.yaml": "/name: must be \"p\"",
		"unnamed/p.yaml": "/name: is required", "none.yaml": "no such file",
	} {
		if _, err := read(file, environment(nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
	wrong := environment(map[string]string{hookSchemaVariable: filepath.Join(root, "nowhere")})
	if _, err := read("", wrong); err == nil || !strings.Contains(err.Error(), hookSchemaVariable) {
		t.Errorf("a wrong override: %v", err)
	}
}

func FuzzDescriptor(f *testing.F) {
	f.Add("name: p\nkind: mcp\ncommand: c\ntools: { t: { type: read_only, offer: no } }\nenv: { A: b }\n")
	f.Add("name: p\nkind: hook\ncommand: c\nevents: [a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := ParseYAML("plugin.yaml", []byte(text))
		if err != nil {
			return
		}
		d := newDescriptor(tree, "p", PluginMCP)
		plugin := d.toolPlugin(nil)
		if d.done() != nil {
			return
		}
		for name := range plugin.Tools {
			if plugin.Tool(name).Security == state.Trusted {
				t.Fatalf("%s is trusted by its own descriptor", name)
			}
		}
		if plugin.Command == "" || plugin.CallTimeout <= 0 || plugin.MaxResultBytes <= 0 {
			t.Fatalf("%+v", plugin)
		}
	})
}
