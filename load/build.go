package load

import (
	"path"
	"path/filepath"
	"slices"
	"time"

	"simplex/load/prompt"
	"simplex/load/schema"
)

// builder makes the Config of a checked tree and applies the rules between values.
type builder struct{ *checker }

func (b *builder) config() *Config {
	root := section{node: b.Tree.Root}
	cfg := &Config{File: b.Tree.Name, BaseDir: b.opt.BaseDir, Warnings: b.warnings, tree: b.Tree}
	b.providers(root, cfg)
	cfg.Plugins = b.plugins(root.sub("plugins"))
	if client := root.sub("client"); client.node != nil {
		cfg.Client = b.client(client)
	}
	security := root.sub("security")
	cfg.Confirmation = remote(security.sub("confirmation"))
	cfg.SandboxFiles = security.sub("sandbox").text("filesystem")
	cfg.HubCall = remote(root.sub("hub_remote_call"))
	cfg.Persistence = b.persistence(root.sub("persistence"))
	worker := root.sub("worker")
	cfg.Worker = b.worker(worker, cfg.Persistence.Enabled)
	cfg.Prompts = b.prompts(worker, cfg.Worker.AutoCompactThreshold > 0)
	return cfg
}

func (b *builder) client(s section) *Client {
	t := s.sub("transport")
	b.backoff(t)
	return &Client{
		Endpoint:        s.endpoint("endpoint"),
		PayloadCapacity: s.int("payload_capacity"),
		SignalCapacity:  s.int("signal_capacity"),
		QueryCapacity:   s.int("query_capacity"),
		WriteCapacity:   t.int("write_capacity"),
		WriteBytes:      t.int("write_byte_capacity"),
		InitialBackoff:  t.ms("initial_backoff_ms"),
		MaxBackoff:      t.ms("max_backoff_ms"),
		IdleTimeout:     time.Duration(t.int("idle_timeout_seconds")) * time.Second,
	}
}

// backoff is the rule of every pair of backoff keys.
func (b *builder) backoff(s section) {
	if s.int("max_backoff_ms") >= s.int("initial_backoff_ms") {
		return
	}
	if s.has("max_backoff_ms") {
		b.Fail(s.line("max_backoff_ms"), s.path+"/max_backoff_ms", "must not be less than initial_backoff_ms")
		return
	}
	b.Fail(s.line("initial_backoff_ms"), s.path+"/initial_backoff_ms", "must not be more than max_backoff_ms, which is %d if it is left out", s.int("max_backoff_ms"))
}

func remote(s section) *Remote {
	if s.node == nil {
		return nil
	}
	return &Remote{Endpoint: s.endpoint("endpoint"), Timeout: s.ms("timeout_ms")}
}

func (b *builder) worker(s section, durable bool) Worker {
	env, process := s.sub("environment"), s.sub("process")
	w := Worker{
		MaxExchanges:         s.count("max_exchanges"),
		EventCapacity:        s.int("event_capacity"),
		AutoCompactThreshold: s.count("auto_compact_threshold"),
		MaxAutoCompactions:   s.count("max_auto_compactions"),
		MaxOutputBytes:       process.int("max_output_bytes"),
		TailBytes:            process.int("tail_bytes"),
		Environment: prompt.Environment{
			Platform: env.text("platform"),
			Software: slices.DeleteFunc(env.texts("software"), func(s string) bool { return s == "" }),
		},
	}
	if dir := env.text("workspace"); dir != "" {
		w.Environment.Workspace = schema.Resolve(b.opt.BaseDir, dir)
	}
	if w.AutoCompactThreshold > 0 && !durable {
		b.Fail(s.line("auto_compact_threshold"), s.path+"/auto_compact_threshold", "needs persistence.enabled")
	}
	return w
}

func (b *builder) persistence(s section) Persistence {
	save := s.sub("save")
	return Persistence{
		Enabled:        s.bool("enabled"),
		Directory:      schema.Resolve(b.opt.BaseDir, s.text("directory")),
		State:          path.Clean(s.text("state")),
		Memory:         path.Clean(s.text("memory")),
		MaxArchives:    s.sub("memory_retention").int("max_archives"),
		Format:         s.text("format"),
		Restore:        s.text("restore"),
		Readable:       s.bool("readable"),
		OnStepFinished: save.bool("on_step_finished"),
		OnRunFinished:  save.bool("on_run_finished"),
		OnShutdown:     save.bool("on_shutdown"),
	}
}

func (b *builder) plugins(s section) Plugins {
	ext := s.sub("extensions")
	tools, hooks := ext.sub("tools"), ext.sub("loop_hooks")
	p := Plugins{
		doc:          b.Tree,
		ProviderDirs: b.directories(s.sub("providers"), "llm"),
		ToolDirs:     b.directories(tools, "tools"),
		HookDirs:     b.directories(hooks, "loop"),
	}
	b.unique(tools)
	for _, item := range tools.items("enable") {
		p.Tools = append(p.Tools, EnabledTool{item.text("name"), b.optionalPath(item, "schema_directory"), item.texts("trust")})
	}
	b.unique(hooks)
	for _, item := range hooks.items("enable") {
		p.Hooks = append(p.Hooks, EnabledHook{item.text("name"), b.optionalPath(item, "config_file")})
	}
	return p
}

// directories resolves the search path of one category; duplicates are dropped.
func (b *builder) directories(s section, category string) []string {
	var out []string
	for _, dir := range s.texts("directories") {
		if dir = schema.Resolve(b.opt.BaseDir, dir); !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if out == nil {
		return []string{filepath.Join(b.opt.Env.ExeDir, "plugins", category)}
	}
	return out
}

func (b *builder) optionalPath(s section, name string) string {
	if !s.has(name) {
		return ""
	}
	return schema.Resolve(b.opt.BaseDir, s.text(name))
}

// unique refuses a name that is enabled twice.
func (b *builder) unique(s section) {
	seen := map[string]bool{}
	for _, item := range s.items("enable") {
		name := item.text("name")
		if seen[name] {
			b.Fail(item.line("name"), item.path+"/name", "is enabled twice")
		}
		seen[name] = true
	}
}
