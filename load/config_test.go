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

	"simplex/load/document"
	"simplex/load/prompt"
	"simplex/state"
)

// environment is an Env with the given variables and an empty installation.
func environment(vars map[string]string) Env {
	return Env{ExeDir: "/opt/simplex", Getenv: func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}}
}

const minimal = `driver_model: main
providers:
  main:
    plugin: deepseek
    model: deepseek-flash
    config: { reasoning_effort: high, max_tokens: 4096 }
    endpoint: { auth: { api_key: "${MY_KEY}" } }
    retry: { max_attempts: 2 }
client: { endpoint: "ws://127.0.0.1:9000/worker" }
security: { confirmation: { endpoint: "ws://127.0.0.1:9000/confirm" } }
worker:
  auto_compact_threshold: 90000
  environment: { workspace: ., software: [git, "", go] }
persistence: { directory: ./data/s1, readable: true }
`

func fromText(text string, opt Options) (*Config, error) {
	tree, err := document.ParseYAML("config.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return FromTree(tree, opt)
}

// TestMinimal reads the example of §2.11 from a file and shows every default.
func TestMinimal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Load(file, Options{Env: environment(map[string]string{"MY_KEY": "k$1${X}"})})
	if err != nil {
		t.Fatal(err)
	}
	settings, _ := state.ParseObject([]byte(`{"max_tokens":4096,"reasoning_effort":"high"}`))
	want := &Config{
		File: file, BaseDir: dir,
		Driver: Provider{
			Path: "/providers/main", Name: "main", Plugin: "deepseek", Model: "deepseek-flash", Settings: settings,
			Endpoint: ProviderEndpoint{Scheme: "bearer", APIKey: "k$1${X}", HeaderName: "x-api-key", ExtraHeaders: map[string]string{}},
			Retry:    Retry{2, 500 * time.Millisecond, 2 * time.Minute, 5 * time.Minute},
		},
		Plugins: Plugins{ProviderDirs: []string{"/opt/simplex/plugins/llm"}, ToolDirs: []string{"/opt/simplex/plugins/tools"}, HookDirs: []string{"/opt/simplex/plugins/loop"}},
		Client: &Client{
			Endpoint: Endpoint{Host: "127.0.0.1", Port: 9000, Target: "/worker"}, PayloadCapacity: 256, SignalCapacity: 256, QueryCapacity: 64,
			WriteCapacity: 256, WriteBytes: 16 << 20, InitialBackoff: 250 * time.Millisecond, MaxBackoff: 10 * time.Second,
		},
		Confirmation: &Remote{Endpoint{Host: "127.0.0.1", Port: 9000, Target: "/confirm"}, 2 * time.Minute},
		SandboxFiles: "off",
		Worker: Worker{
			MaxExchanges: 512, EventCapacity: 1024, AutoCompactThreshold: 90000, MaxAutoCompactions: 5,
			Environment: prompt.Environment{Workspace: dir, Software: []string{"git", "go"}}, MaxOutputBytes: 65536, TailBytes: 8192,
		},
		Persistence: Persistence{
			Enabled: true, Directory: filepath.Join(dir, "data/s1"), State: "state", Memory: "memory", MaxArchives: 5,
			Format: "json", Restore: "if_present", Readable: true, OnStepFinished: true, OnRunFinished: true, OnShutdown: true,
		},
	}
	factory := `{"endpoint":{"auth":{"api_key":"k$1${X}"}},"max_tokens":4096,"model":"deepseek-flash","reasoning_effort":"high",` +
		`"retry":{"idle_timeout_ms":300000,"initial_backoff_ms":500,"max_attempts":2,"max_backoff_ms":120000}}`
	if got.Driver.Factory().String() != factory {
		t.Errorf("factory configuration %s", got.Driver.Factory())
	}
	for _, p := range []*prompt.File{got.Prompts.System, got.Prompts.Compact, got.Prompts.AutoCompact, got.Prompts.Continue} {
		if text, err := p.Text(); err != nil || text == "" || !strings.HasPrefix(p.Name, "embedded:prompts/") {
			t.Errorf("prompt %s: %q, %v", p.Name, text, err)
		}
	}
	got.Prompts, got.tree, got.Plugins.doc = Prompts{}, nil, nil
	opts := cmp.Options{cmp.AllowUnexported(state.Value{}, Config{}, Plugins{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".endpoint" }, cmp.Ignore())}
	if d := cmp.Diff(want, got, opts); d != "" {
		t.Error(d)
	}
}

// TestManaged shows that a managed allocation's JSON gives the same configuration,
// with paths from the given base.
func TestManaged(t *testing.T) {
	t.Parallel()
	tree, err := document.ParseYAML("config.yaml", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	effective, err := document.ParseJSON("effective", tree.JSON().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Env: environment(map[string]string{"MY_KEY": "k"}), BaseDir: "/srv/a/config"}
	got, err := FromTree(effective, opt)
	if err != nil {
		t.Fatal(err)
	}
	if got.Worker.Environment.Workspace != "/srv/a/config" || got.Persistence.Directory != "/srv/a/config/data/s1" {
		t.Errorf("paths %q %q", got.Worker.Environment.Workspace, got.Persistence.Directory)
	}
	broken, _ := document.ParseJSON("effective", []byte(`{"driver_model":"m","providers":{"m":{"model":"x"}},"client":{"endpoint":"http://x"}}`))
	if _, err = FromTree(broken, opt); err == nil || err.Error() != "effective: /client/endpoint: must begin with ws:// or wss://" {
		t.Errorf("got %v", err)
	}
}

// TestRules is one row per rule that looks at more than one value, or at a value in a
// way that the table of keys does not say.
func TestRules(t *testing.T) {
	t.Parallel()
	base := "driver_model: m\nproviders:\n  m: {model: x}\nclient: {endpoint: ws://h}\n"
	for _, c := range []struct {
		name, doc string
		line      int
		path      string
		words     string
	}{
		{"nothing", "{}", 0, "/driver_model", "is required"},
		{"unknown driver", "driver_model: q\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h}", 1, "/driver_model", `"q" is no entry of providers; there are: m`},
		{"no providers", "driver_model: q\nclient: {endpoint: ws://h}", 1, "/driver_model", "providers is missing"},
		{"empty providers", "driver_model: q\nproviders: {}\nclient: {endpoint: ws://h}", 1, "/driver_model", `"q" is no entry of providers, which is empty`},
		{"unknown assistant", base + "modality_assist_model: z", 5, "/modality_assist_model", `"z" is no entry of providers; there are: m`},
		{"empty assistant", base + "modality_assist_model: ''", 5, "/modality_assist_model", "must not be empty"},
		{"null assistant", base + "modality_assist_model:", 5, "/modality_assist_model", "not null"},
		{"no model", "driver_model: m\nproviders:\n  m:\n    plugin: p\nclient: {endpoint: ws://h}", 4, "/providers/m/model", "is required"},
		{"no client", "driver_model: m\nproviders: {m: {model: x}}", 0, "/client/endpoint", "is required"},
		{"empty client", "driver_model: m\nproviders: {m: {model: x}}\nclient: {}", 3, "/client/endpoint", "is required"},
		{"null client", "driver_model: m\nproviders: {m: {model: x}}\nclient:", 3, "/client", "must be a mapping, not null"},
		{"confirmation without endpoint", base + "security:\n  confirmation: {timeout_ms: 1}", 6, "/security/confirmation/endpoint", "is required"},
		{"hub call without endpoint", base + "hub_remote_call: {}", 5, "/hub_remote_call/endpoint", "is required"},
		{"model in config", "driver_model: m\nproviders:\n  m:\n    model: x\n    config:\n      endpoint: {}\nclient: {endpoint: ws://h}", 6, "/providers/m/config/endpoint", "does not belong"},
		{"provider backoff", "driver_model: m\nproviders:\n  m:\n    model: x\n    retry:\n      initial_backoff_ms: 9\n      max_backoff_ms: 8\nclient: {endpoint: ws://h}", 7, "/providers/m/retry/max_backoff_ms", "must not be less than initial_backoff_ms"},
		{"client backoff above the default", "driver_model: m\nproviders: {m: {model: x}}\nclient:\n  endpoint: ws://h\n  transport:\n    initial_backoff_ms: 10001", 6, "/client/transport/initial_backoff_ms", "must not be more than max_backoff_ms, which is 10000"},
		{"threshold without persistence", base + "worker:\n  auto_compact_threshold: 1\npersistence: {enabled: false}", 6, "/worker/auto_compact_threshold", "needs persistence.enabled"},
		{"retired key", base + "worker:\n  system_prompt: hi", 6, "/worker/system_prompt", "system_prompt_file"},
		{"retired key, null", base + "worker:\n  system_prompt:", 6, "/worker/system_prompt", "system_prompt_file"},
		{"float for an integer", base + "worker: {max_exchanges: 5.0}", 5, "/worker/max_exchanges", "must be an integer, not a number"},
		{"hexadecimal", base + "worker: {max_exchanges: 0x10}", 5, "/worker/max_exchanges", "must be an integer, not text"},
		{"zero", base + "worker: {max_exchanges: 0}", 5, "/worker/max_exchanges", "1..2147483647"},
		{"too large", base + "worker: {max_exchanges: 2147483648}", 5, "/worker/max_exchanges", "1..2147483647"},
		{"far too large", base + "worker: {max_exchanges: 18446744073709551615}", 5, "/worker/max_exchanges", "1..2147483647"},
		{"negative", base + "worker: {auto_compact_threshold: -1}", 5, "/worker/auto_compact_threshold", "0..2147483647"},
		{"few write bytes", "driver_model: m\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h, transport: {write_byte_capacity: 16777215}}", 3, "/client/transport/write_byte_capacity", "16777216.."},
		{"a word that is a boolean", base + "worker:\n  environment:\n    software: [git, no]", 7, "/worker/environment/software/1", "put it in quotes"},
		{"a number as a model", "driver_model: m\nproviders:\n  m:\n    model: 4.5\nclient: {endpoint: ws://h}", 4, "/providers/m/model", "put it in quotes"},
		{"off for a sandbox", base + "security:\n  sandbox:\n    filesystem: off", 7, "/security/sandbox/filesystem", "put it in quotes"},
		{"a number as a header", "driver_model: m\nproviders:\n  m:\n    model: x\n    endpoint:\n      extra_headers:\n        X-A: 5\nclient: {endpoint: ws://h}", 7, "/providers/m/endpoint/extra_headers/X-A", "put it in quotes"},
		{"unknown scheme", "driver_model: m\nproviders:\n  m:\n    model: x\n    endpoint: {auth: {scheme: basic}}\nclient: {endpoint: ws://h}", 5, "/providers/m/endpoint/auth/scheme", "none, bearer, custom_header"},
		{"unset variable", "driver_model: m\nproviders:\n  m:\n    model: x\n    endpoint:\n      auth: {api_key: '${NOT_SET}'}\nclient: {endpoint: ws://h}", 6, "/providers/m/endpoint/auth/api_key", "NOT_SET, which is unset or empty"},
		{"enabled twice", base + "plugins: {extensions: {tools: {enable: [{name: a}, {name: b}, {name: a}]}}}", 5, "/plugins/extensions/tools/enable/2/name", "twice"},
		{"bad plugin name", base + "plugins: {extensions: {loop_hooks: {enable: [{name: ../a}]}}}", 5, "/plugins/extensions/loop_hooks/enable/0/name", "letters"},
		{"plugin without name", base + "plugins: {extensions: {loop_hooks: {enable: [{}]}}}", 5, "/plugins/extensions/loop_hooks/enable/0/name", "is required"},
		{"NUL in a path", base + "persistence: {directory: \"a\\0b\"}", 5, "/persistence/directory", "NUL"},
		{"empty directory", base + "persistence: {directory: ''}", 5, "/persistence/directory", "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := fromText(c.doc, Options{Env: environment(nil)})
			var e *document.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Line != c.line || e.Path != c.path || !strings.Contains(e.Message, c.words) {
				t.Errorf("got %q, want line %d, path %s, %q", err, c.line, c.path, c.words)
			}
		})
	}
}

// TestAllErrorsAtOnce shows that a user sees every mistake, in the order of the lines.
func TestAllErrorsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := fromText("persistence: 5\nworker:\n  max_exchanges: x\n  event_capacity: 0\ndriver_model: m\n", Options{})
	want := `config.yaml:1: /persistence: must be a mapping, not an integer
config.yaml:3: /worker/max_exchanges: must be an integer, not text
config.yaml:4: /worker/event_capacity: must be in the range 1..2147483647
config.yaml:5: /driver_model: providers is missing
config.yaml: /client/endpoint: is required`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v", err)
	}
}

// TestUnselectedProviders shows that only the selected entries have to be sound.
func TestUnselectedProviders(t *testing.T) {
	t.Parallel()
	doc := "driver_model: m\nproviders:\n  broken: 5\n  other: {endpoint: {auth: {api_key: '${NOPE}'}}, colour: red}\n  m: {model: x}\nclient: {endpoint: ws://h}\nmodality_assist_model: m\n"
	cfg, err := fromText(doc, Options{Env: environment(nil)})
	if err != nil || len(cfg.Warnings) > 0 {
		t.Fatalf("%v, %v", err, cfg)
	}
	if cfg.Assist == nil || cfg.Assist.Name != "m" || cfg.Assist == &cfg.Driver || cfg.Driver.Plugin != "m" {
		t.Errorf("assistant %v, driver %v", cfg.Assist, cfg.Driver)
	}
}

// TestClientOptional is the configuration that `simplex chat` may load.
func TestClientOptional(t *testing.T) {
	t.Parallel()
	doc := "driver_model: m\nproviders: {m: {plugin: offline, model: x, config: {scenario: demo}}}\n"
	cfg, err := fromText(doc, Options{ClientOptional: true})
	if err != nil || cfg.Client != nil || cfg.Confirmation != nil || cfg.HubCall != nil {
		t.Fatalf("%v, %v", cfg, err)
	}
	if _, err := fromText(doc+"client: {payload_capacity: 5}\n", Options{ClientOptional: true}); err == nil {
		t.Error("a client without endpoint was accepted")
	}
}

// TestWarnings shows one warning per unknown key, with its line and the nearest key.
func TestWarnings(t *testing.T) {
	t.Parallel()
	doc := minimal + "max_exchanges: 5\nworkers: {max_exchanges: 1, other: 2}\nhub_remote_call:\n  endpoint: ws://h\n  time_out: 5\n"
	cfg, err := fromText(doc, Options{Env: environment(map[string]string{"MY_KEY": "k"})})
	if err != nil {
		t.Fatal(err)
	}
	want := []Warning{
		{"config.yaml", 15, "/max_exchanges", "/worker/max_exchanges"},
		{"config.yaml", 16, "/workers", "/worker"},
		{"config.yaml", 19, "/hub_remote_call/time_out", "/hub_remote_call/timeout_ms"},
	}
	if d := cmp.Diff(want, cfg.Warnings); d != "" {
		t.Error(d)
	}
	if s := cfg.Warnings[2].String(); s != "config.yaml:19: unknown key /hub_remote_call/time_out is ignored; the nearest known key is /hub_remote_call/timeout_ms" {
		t.Error(s)
	}
}

// TestPaths shows which directory each path starts from.
func TestPaths(t *testing.T) {
	t.Parallel()
	doc := minimal + "plugins:\n  providers: {directories: [a, ./a, /abs/../b]}\n  extensions:\n    tools: {directories: [t], enable: [{name: x, schema_directory: ../s, trust: [x_read]}]}\n    loop_hooks: {enable: [{name: h, config_file: h.yaml}]}\n"
	cfg, err := fromText(doc, Options{Env: environment(map[string]string{"MY_KEY": "k"}), BaseDir: "/etc/simplex"})
	if err != nil {
		t.Fatal(err)
	}
	want := Plugins{
		ProviderDirs: []string{"/etc/simplex/a", "/b"}, ToolDirs: []string{"/etc/simplex/t"}, HookDirs: []string{"/opt/simplex/plugins/loop"},
		Tools: []EnabledTool{{"x", "/etc/s", []string{"x_read"}}}, Hooks: []EnabledHook{{"h", "/etc/simplex/h.yaml"}},
	}
	cfg.Plugins.doc = nil
	if d := cmp.Diff(want, cfg.Plugins, cmp.AllowUnexported(Plugins{})); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "/abs", "..", "a/../b", "\x00"} {
		if childRule(bad) == "" {
			t.Errorf("child path %q accepted", bad)
		}
	}
	for _, bad := range []string{"", "/abs", `\abs`, "C:x", "c:/x", "..", "a/../b", `a\..\b`, "a\x00"} {
		if promptPathRule(bad) == "" {
			t.Errorf("prompt path %q accepted", bad)
		}
	}
	for _, good := range []string{"a..b", "...", "prompts/x.yaml", "1:x"} {
		if childRule(good)+promptPathRule(good) != "" {
			t.Errorf("%q refused", good)
		}
	}
}

func TestLoadFile(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:         dir + ": is a directory, not a regular file",
		fifo:        fifo + ": is a named pipe, not a regular file",
		"/dev/zero": "/dev/zero: is a device, not a regular file",
	} {
		if _, err := Load(path, Options{}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	raw, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		b.Fatal(err)
	}
	opt := Options{Env: environment(map[string]string{"DEEPSEEK_API_KEY": "k"})}
	for b.Loop() {
		cfg, err := fromText(string(raw), opt)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := cfg.Prompts.System.Prompt(); err != nil {
			b.Fatal(err)
		}
	}
}
