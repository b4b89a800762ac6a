package load

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"simplex/load/document"
	"simplex/load/prompt"
	"simplex/load/schema"
	"simplex/state"
)

// Env is what the process's surroundings contribute to a configuration.
type Env struct {
	Getenv func(string) (string, bool) // os.LookupEnv; nil: no variable is set
	ExeDir string                      // absolute directory of the executable (the installation)
}

// Lookup is Getenv, for which nothing is set where there is none.
func (e Env) Lookup(name string) (string, bool) {
	if e.Getenv == nil {
		return "", false
	}
	return e.Getenv(name)
}

// Options steers Load and FromTree. The zero value has no environment and no
// installation, so only embedded prompts are found.
type Options struct {
	Env            Env
	BaseDir        string // config-relative paths start here; Load sets it to the file's directory (see there)
	ClientOptional bool   // `client` may be absent, as for `simplex chat`; where present it is checked
}

// Config is a whole worker configuration with all defaults filled in (§2.4–2.10b).
// Directories are absolute and lexically normalised unless stated.
type Config struct {
	File         string // as given
	BaseDir      string // absolute
	Driver       Provider
	Assist       *Provider // nil: no modality_assist_model
	Plugins      Plugins
	Client       *Client // nil only with Options.ClientOptional
	Confirmation *Remote // nil: absent, mode ask denies
	HubCall      *Remote // nil: absent, the toolset is not loaded
	SandboxFiles string  // security.sandbox.filesystem: off, workspace
	Worker       Worker
	Persistence  Persistence
	Prompts      Prompts
	Warnings     []Warning // one for each unknown key, in document order
	tree         *document.Tree
}

// Fault is err as the fault of the value at path (slash form), with the file and the
// line of the value or of the innermost mapping that is there.
func (c *Config) Fault(path string, err error) error { return c.tree.Fault(path, err) }

// Provider is one selected entry of `providers`, with its credentials expanded.
type Provider struct {
	Path     string // of the entry, in slash form
	Name     string // key in providers
	Plugin   string // factory name; whether it exists is the caller's knowledge
	Model    string
	Settings state.Object // providers.<n>.config; `{}` if omitted
	Endpoint ProviderEndpoint
	Retry    Retry
	endpoint state.Object // as written
}

// ProviderEndpoint is where and how a provider is reached. Empty texts mean the
// provider's own default.
type ProviderEndpoint struct {
	BaseURL      string
	RequestPath  string
	UserAgent    string
	Scheme       string // none, bearer, custom_header
	APIKey       string // secret, expanded
	HeaderName   string // for custom_header
	AuthExtras   state.Object
	ExtraHeaders map[string]string // values are secret and expanded
	Extras       state.Object
}

// Retry is the retry policy of one provider.
type Retry struct {
	MaxAttempts    int // after the first try
	InitialBackoff time.Duration
	MaxBackoff     time.Duration
	IdleTimeout    time.Duration // 0: off
}

// Plugins is the checked `plugins` section.
type Plugins struct {
	ProviderDirs []string
	ToolDirs     []string
	HookDirs     []string
	Tools        []EnabledTool
	Hooks        []EnabledHook
	doc          *document.Tree
}

// Fault puts an error that names no document to the entry of the configuration that
// brought it about.
func (p Plugins) Fault(path string, err error) error {
	if _, ok := errors.AsType[*document.Error](err); ok {
		return err
	}
	return p.doc.Fault(path, err)
}

// EnabledTool is one entry of plugins.extensions.tools.enable.
type EnabledTool struct {
	Name            string
	SchemaDirectory string   // "" if not given
	Trust           []string // tools of the plugin that may be trusted
}

// EnabledHook is one entry of plugins.extensions.loop_hooks.enable.
type EnabledHook struct {
	Name       string
	ConfigFile string // "" if not given
}

// Client is the persistent event connection.
type Client struct {
	Endpoint        Endpoint
	PayloadCapacity int // frames
	SignalCapacity  int
	QueryCapacity   int
	WriteCapacity   int // frames
	WriteBytes      int // bytes, at least 16 MiB
	InitialBackoff  time.Duration
	MaxBackoff      time.Duration
	IdleTimeout     time.Duration // 0: off
}

// Remote is an endpoint that is asked one question per connection.
type Remote struct {
	Endpoint Endpoint
	Timeout  time.Duration
}

// Worker is the `worker` section; its prompts are in Config.Prompts.
type Worker struct {
	MaxExchanges         uint64 // per segment
	EventCapacity        int
	AutoCompactThreshold uint64 // tokens; 0: off
	MaxAutoCompactions   uint64 // per request
	Environment          prompt.Environment
	MaxOutputBytes       int // capture per process; 0: unlimited
	TailBytes            int // rolling tail per stream after the budget
}

// Persistence is the `persistence` section.
type Persistence struct {
	Enabled        bool
	Directory      string
	State          string // relative to Directory
	Memory         string // relative to Directory
	MaxArchives    int    // 0: never remove
	Format         string // json, sqlite
	Restore        string // if_present, never
	Readable       bool
	OnStepFinished bool
	OnRunFinished  bool
	OnShutdown     bool
}

// Load reads and checks a configuration file, which document.Read has to accept. Relative
// paths in it start at its directory; in one that is read from a descriptor
// (/dev/stdin), at the working directory. Errors are I/O errors, *document.Error or
// document.Errors.
func Load(path string, opt Options) (*Config, error) {
	raw, err := document.Read(path)
	if err != nil {
		return nil, err
	}
	tree, err := document.ParseYAML(path, raw)
	if err != nil {
		return nil, err
	}
	opt.BaseDir = filepath.Dir(path)
	if document.IsDescriptor(path) {
		opt.BaseDir = "." // what is piped in has no directory
	}
	return FromTree(tree, opt)
}

// FromTree checks a document that is already read: a managed allocation's effective
// configuration (document.ParseJSON) or one that was put together. opt.BaseDir is where its
// config-relative paths start; relative or empty, it counts from the working directory.
func FromTree(tree *document.Tree, opt Options) (*Config, error) {
	base, err := filepath.Abs(opt.BaseDir)
	if err != nil {
		return nil, err
	}
	opt.BaseDir = base
	c := &checker{Checker: schema.Checker{Tree: tree}, opt: opt}
	c.mapping(tree.Root, "", "")
	c.selectors()
	slices.SortStableFunc(c.warnings, func(a, b Warning) int { return a.Line - b.Line })
	if len(c.Errs) > 0 {
		return nil, c.all()
	}
	b := &builder{checker: c}
	cfg := b.config()
	if len(c.Errs) > 0 {
		return nil, c.all()
	}
	return cfg, nil
}
