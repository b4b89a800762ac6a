package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"simplex/load"
	"simplex/load/document"
	"simplex/state"
)

// environment is an Env with the given variables and an empty installation.
func environment(vars map[string]string) load.Env {
	return load.Env{ExeDir: "/opt/simplex", Getenv: func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}}
}

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
	p := load.Plugins{ToolDirs: []string{root}, Tools: []load.EnabledTool{{Name: "files", SchemaDirectory: filepath.Join(root, "files"), Trust: []string{"list", "other"}}}}
	got, err := Toolsets(p, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	config, _ := state.ParseObject([]byte(`{"depth":3}`))
	dir := filepath.Join(root, "files")
	want := []Toolset{{
		Program: Program{
			Name: "files", Description: "Files of the archive", File: filepath.Join(dir, "plugin.yaml"), Dir: dir,
			Command: filepath.Join(dir, "server"), Args: []string{"--root", "yes"}, Env: []string{"ALSO=a=b", "MODE=1"},
			InheritEnv: []string{"ARCHIVE_TOKEN"}, WorkingDirectory: filepath.Join(dir, "run"),
			Grace: 100 * time.Millisecond, MaxRestarts: 1, Config: config,
		},
		Prefix: "files_",
		Tools: map[string]Tool{
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
	for name, want := range map[string]Tool{
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
	tools, err := Toolsets(load.Plugins{ToolDirs: []string{root}, Tools: []load.EnabledTool{{Name: "t"}}}, env)
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
	hooks, err := Hooks(load.Plugins{HookDirs: []string{root}, Hooks: []load.EnabledHook{{Name: "h"}}}, env)
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
		{KindMCP, tool + "autostart: true\n", ":4: /autostart: is not a known key"},
		{KindMCP, tool + "arg: [x]\n", ":4: /arg: is not a known key; the nearest is /args"},
		{KindMCP, tool + "events: [RunStarted]\n", ":4: /events: is not a known key"},
		{KindMCP, "name: q\nkind: mcp\ncommand: c\n", ":1: /name: must be \"p\""},
		{KindMCP, "kind: mcp\ncommand: c\n", ": /name: is required"},
		{KindMCP, hook, ":2: /kind: must be \"mcp\""},
		{KindHook, tool + "events: [RunStarted]\n", ":2: /kind: must be \"hook\""},
		{KindMCP, "name: p\nkind: mcp\n", ": /command: is required"},
		{KindMCP, "name: p\nkind: mcp\ncommand: ''\n", ":3: /command: must not be empty"},
		{KindMCP, tool + "args: c\n", ":4: /args: must be a list, not text"},
		{KindMCP, tool + "args: [1]\n", ":4: /args/0: must be text, but YAML reads this unquoted value as an integer; put it in quotes"},
		{KindMCP, tool + "env: { A: on }\n", ":4: /env/A: must be text, but YAML reads this unquoted value as a boolean; put it in quotes"},
		{KindMCP, tool + "env: { 'A=B': x }\n", ":4: /env/A=B: is no name of a variable: it must consist of letters, digits, _ and -"},
		{KindMCP, tool + "inherit_env: ['']\n", ":4: /inherit_env/0: must not be empty"},
		{KindMCP, tool + "call_timeout_ms: 0\n", ":4: /call_timeout_ms: must be in the range 1..2147483647"},
		{KindMCP, tool + "tools: { t: { security: trusted } }\n", ":4: /tools/t/security: a plugin may not call its own tool trusted; the host's configuration does, by `trust` in the enable entry"},
		{KindMCP, tool + "tools: { t: { security: safe } }\n", ":4: /tools/t/security: must be one of default_deny, require_confirm, trusted"},
		{KindMCP, tool + "tools: { t: { type: parallel } }\n", ":4: /tools/t/type: must be one of read_only, parall_write, serial_write"},
		{KindMCP, tool + "tools: { t: { confirm: false } }\n", ":4: /tools/t/confirm: is not a known key"},
		{KindMCP, tool + "tools: { t: { secure: trusted } }\n", ":4: /tools/t/secure: is not a known key; the nearest is /tools/t/security"},
		{KindMCP, tool + "tools: { t: }\n", ":4: /tools/t: must be a mapping, not null"},
		{KindMCP, tool + "tool_prefix: 'a b'\n", ":4: /tool_prefix: must consist of letters, digits, _ and -"},
		{KindHook, hook, ": /events: is required and must not be empty"},
		{KindHook, hook + "events: [RunStarted]\non_failure: ignore\n", ":5: /on_failure: must be one of fail, continue"},
		{KindHook, hook + "events: RunStarted\n", ":4: /events: must be a list, not text"},
	} {
		root := plant(t, map[string]string{"p/plugin.yaml": c.text})
		p := load.Plugins{ToolDirs: []string{root}, HookDirs: []string{root}}
		var err error
		if c.kind == KindMCP {
			p.Tools = []load.EnabledTool{{Name: "p", Trust: []string{"another"}}}
			_, err = Toolsets(p, environment(nil))
		} else {
			p.Hooks = []load.EnabledHook{{Name: "p"}}
			_, err = Hooks(p, environment(nil))
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
	enable := func(names ...string) ([]Toolset, error) {
		p := load.Plugins{ToolDirs: []string{first, "/no/such/directory", second}}
		for _, name := range names {
			p.Tools = append(p.Tools, load.EnabledTool{Name: name})
		}
		return Toolsets(p, environment(nil))
	}
	got, err := enable("two", "one") // a broken neighbour that nobody wants does no harm
	if err != nil || len(got) != 2 || got[0].Name != "two" || got[1].Name != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, name := range []string{"in", "root", "empty", "Two"} {
		_, err := enable("one", name)
		missing, ok := errors.AsType[*MissingError](err)
		at, placed := errors.AsType[*document.Error](err)
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
	if got, err := Toolsets(load.Plugins{ToolDirs: []string{"\x00"}}, environment(nil)); err != nil || got != nil {
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
		_, err := Toolsets(load.Plugins{ToolDirs: []string{root}, Tools: []load.EnabledTool{{Name: name}}}, environment(nil))
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
	read := func(file string, env load.Env) (string, error) {
		e := load.EnabledHook{Name: "p"}
		if file != "" {
			e.ConfigFile = filepath.Join(root, file)
		}
		got, err := Hooks(load.Plugins{HookDirs: []string{root}, Hooks: []load.EnabledHook{e}}, env)
		if err != nil {
			return "", err
		}
		return got[0].Config.String(), nil
	}
	byEnv := environment(map[string]string{hookSchemaVariable: filepath.Join(root, "env")})
	atExe := load.Env{ExeDir: filepath.Join(root, "exe")}
	for _, c := range []struct {
		file string
		env  load.Env
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
		tree, err := document.ParseYAML("plugin.yaml", []byte(text))
		if err != nil {
			return
		}
		d := newDescriptor(tree, "p", KindMCP)
		plugin := d.toolset(nil)
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
