package load

import "strings"

// Type is what a key of the configuration may hold.
type Type string

// The types of keys.
const (
	TypeText     Type = "text"
	TypePath     Type = "path" // text without NUL
	TypeName     Type = "name" // [A-Za-z0-9_-]+
	TypeEndpoint Type = "WebSocket URL"
	TypePrompt   Type = "prompt path" // confined below the installation
	TypeChild    Type = "child path"  // relative, no `..`
	TypeInt      Type = "integer"
	TypeBool     Type = "boolean"
	TypeMapping  Type = "mapping"             // with known keys
	TypeTable    Type = "mapping of names"    // any names, values of one form
	TypeList     Type = "list"                // items of one form
	TypeObject   Type = "mapping, kept as is" // nothing in it is looked at
	TypeRefused  Type = "refused"
)

// Key is one row of the table of known keys: the single source of validation,
// defaults, unknown-key warnings and of the tests of docs/configuration.md.
type Key struct {
	Path     string // slash form; * stands for any name or list index
	Type     Type
	Default  string   // as written in YAML; for integers and booleans never empty
	Min      int64    // of an integer; the largest is always 2147483647
	Enum     []string // of a text
	Required bool     // within its mapping; an omitted mapping counts as empty
	Optional bool     // a mapping whose absence means something; its required keys bind only where it is present
	NonEmpty bool     // of a text
}

// maxHostInt is the largest integer of the host configuration (§8).
const maxHostInt = 1<<31 - 1

const minWriteBytes = 16 << 20

// keys is composed of constants only, so it costs nothing at start.
var keys = [...]Key{
	{Path: "/driver_model", Type: TypeText, Required: true, NonEmpty: true},
	{Path: "/modality_assist_model", Type: TypeText, NonEmpty: true},
	{Path: "/providers", Type: TypeTable},
	{Path: "/providers/*", Type: TypeMapping},
	{Path: "/providers/*/plugin", Type: TypeText, NonEmpty: true},
	{Path: "/providers/*/model", Type: TypeText, Required: true, NonEmpty: true},
	{Path: "/providers/*/config", Type: TypeObject},
	{Path: "/providers/*/endpoint", Type: TypeMapping},
	{Path: "/providers/*/endpoint/base_url", Type: TypeText},
	{Path: "/providers/*/endpoint/request_path", Type: TypeText},
	{Path: "/providers/*/endpoint/user_agent", Type: TypeText},
	{Path: "/providers/*/endpoint/auth", Type: TypeMapping},
	{Path: "/providers/*/endpoint/auth/scheme", Type: TypeText, Default: "bearer", Enum: []string{"none", "bearer", "custom_header"}},
	{Path: "/providers/*/endpoint/auth/api_key", Type: TypeText},
	{Path: "/providers/*/endpoint/auth/header_name", Type: TypeText, Default: "x-api-key"},
	{Path: "/providers/*/endpoint/auth/extras", Type: TypeObject},
	{Path: "/providers/*/endpoint/extra_headers", Type: TypeTable},
	{Path: "/providers/*/endpoint/extra_headers/*", Type: TypeText},
	{Path: "/providers/*/endpoint/extras", Type: TypeObject},
	{Path: "/providers/*/retry", Type: TypeMapping},
	{Path: "/providers/*/retry/max_attempts", Type: TypeInt, Default: "3"},
	{Path: "/providers/*/retry/initial_backoff_ms", Type: TypeInt, Default: "500", Min: 1},
	{Path: "/providers/*/retry/max_backoff_ms", Type: TypeInt, Default: "120000", Min: 1},
	{Path: "/providers/*/retry/idle_timeout_ms", Type: TypeInt, Default: "300000"},

	{Path: "/client", Type: TypeMapping},
	{Path: "/client/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/client/payload_capacity", Type: TypeInt, Default: "256", Min: 1},
	{Path: "/client/signal_capacity", Type: TypeInt, Default: "256", Min: 1},
	{Path: "/client/query_capacity", Type: TypeInt, Default: "64", Min: 1},
	{Path: "/client/transport", Type: TypeMapping},
	{Path: "/client/transport/write_capacity", Type: TypeInt, Default: "256", Min: 1},
	{Path: "/client/transport/write_byte_capacity", Type: TypeInt, Default: "16777216", Min: minWriteBytes},
	{Path: "/client/transport/initial_backoff_ms", Type: TypeInt, Default: "250", Min: 1},
	{Path: "/client/transport/max_backoff_ms", Type: TypeInt, Default: "10000", Min: 1},
	{Path: "/client/transport/idle_timeout_seconds", Type: TypeInt, Default: "0"},

	{Path: "/security", Type: TypeMapping},
	{Path: "/security/confirmation", Type: TypeMapping, Optional: true},
	{Path: "/security/confirmation/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/security/confirmation/timeout_ms", Type: TypeInt, Default: "120000", Min: 1},
	{Path: "/security/sandbox", Type: TypeMapping},
	{Path: "/security/sandbox/filesystem", Type: TypeText, Default: "off", Enum: []string{"off", "workspace"}},
	{Path: "/hub_remote_call", Type: TypeMapping, Optional: true},
	{Path: "/hub_remote_call/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/hub_remote_call/timeout_ms", Type: TypeInt, Default: "120000", Min: 1},

	{Path: "/worker", Type: TypeMapping},
	{Path: "/worker/max_exchanges", Type: TypeInt, Default: "512", Min: 1},
	{Path: "/worker/event_capacity", Type: TypeInt, Default: "1024", Min: 1},
	{Path: "/worker/auto_compact_threshold", Type: TypeInt, Default: "0"},
	{Path: "/worker/max_auto_compactions", Type: TypeInt, Default: "5", Min: 1},
	{Path: "/worker/system_prompt", Type: TypeRefused},
	{Path: "/worker/system_prompt_file", Type: TypePrompt, Default: "prompts/coding_agent.yaml"},
	{Path: "/worker/compact_prompt_file", Type: TypePrompt, Default: "prompts/operations/compact.yaml"},
	{Path: "/worker/auto_compact_prompt_file", Type: TypePrompt, Default: "prompts/operations/auto_compact.yaml"},
	{Path: "/worker/auto_compact_continue_prompt_file", Type: TypePrompt, Default: "prompts/operations/auto_compact_continue.yaml"},
	{Path: "/worker/environment", Type: TypeMapping},
	{Path: "/worker/environment/workspace", Type: TypePath},
	{Path: "/worker/environment/platform", Type: TypeText},
	{Path: "/worker/environment/software", Type: TypeList},
	{Path: "/worker/environment/software/*", Type: TypeText},
	{Path: "/worker/process", Type: TypeMapping},
	{Path: "/worker/process/max_output_bytes", Type: TypeInt, Default: "65536"},
	{Path: "/worker/process/tail_bytes", Type: TypeInt, Default: "8192"},

	{Path: "/persistence", Type: TypeMapping},
	{Path: "/persistence/enabled", Type: TypeBool, Default: "true"},
	{Path: "/persistence/directory", Type: TypePath, Default: "./data/session", NonEmpty: true},
	{Path: "/persistence/state", Type: TypeChild, Default: "state"},
	{Path: "/persistence/memory", Type: TypeChild, Default: "memory"},
	{Path: "/persistence/memory_retention", Type: TypeMapping},
	{Path: "/persistence/memory_retention/max_archives", Type: TypeInt, Default: "5"},
	{Path: "/persistence/format", Type: TypeText, Default: "json", Enum: []string{"json", "sqlite"}},
	{Path: "/persistence/restore", Type: TypeText, Default: "if_present", Enum: []string{"if_present", "never"}},
	{Path: "/persistence/readable", Type: TypeBool, Default: "false"},
	{Path: "/persistence/save", Type: TypeMapping},
	{Path: "/persistence/save/on_step_finished", Type: TypeBool, Default: "true"},
	{Path: "/persistence/save/on_run_finished", Type: TypeBool, Default: "true"},
	{Path: "/persistence/save/on_shutdown", Type: TypeBool, Default: "true"},

	{Path: "/plugins", Type: TypeMapping},
	{Path: "/plugins/providers", Type: TypeMapping},
	{Path: "/plugins/providers/directories", Type: TypeList},
	{Path: "/plugins/providers/directories/*", Type: TypePath, NonEmpty: true},
	{Path: "/plugins/extensions", Type: TypeMapping},
	{Path: "/plugins/extensions/tools", Type: TypeMapping},
	{Path: "/plugins/extensions/tools/directories", Type: TypeList},
	{Path: "/plugins/extensions/tools/directories/*", Type: TypePath, NonEmpty: true},
	{Path: "/plugins/extensions/tools/enable", Type: TypeList},
	{Path: "/plugins/extensions/tools/enable/*", Type: TypeMapping},
	{Path: "/plugins/extensions/tools/enable/*/name", Type: TypeName, Required: true},
	{Path: "/plugins/extensions/tools/enable/*/schema_directory", Type: TypePath, NonEmpty: true},
	{Path: "/plugins/extensions/tools/enable/*/trust", Type: TypeList},
	{Path: "/plugins/extensions/tools/enable/*/trust/*", Type: TypeText, NonEmpty: true},
	{Path: "/plugins/extensions/loop_hooks", Type: TypeMapping},
	{Path: "/plugins/extensions/loop_hooks/directories", Type: TypeList},
	{Path: "/plugins/extensions/loop_hooks/directories/*", Type: TypePath, NonEmpty: true},
	{Path: "/plugins/extensions/loop_hooks/enable", Type: TypeList},
	{Path: "/plugins/extensions/loop_hooks/enable/*", Type: TypeMapping},
	{Path: "/plugins/extensions/loop_hooks/enable/*/name", Type: TypeName, Required: true},
	{Path: "/plugins/extensions/loop_hooks/enable/*/config_file", Type: TypePath, NonEmpty: true},
}

// Keys gives a copy of the table of known keys.
func Keys() []Key { return append([]Key(nil), keys[:]...) }

// key finds a row; a path that the table lacks is a mistake in this package.
func key(path string) *Key {
	for i := range keys {
		if keys[i].Path == path {
			return &keys[i]
		}
	}
	panic("load: no key " + path)
}

// in tells whether the row is a direct child of the mapping or list at parent, and
// its last name.
func (k *Key) in(parent string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(k.Path, parent)
	if !ok || len(rest) < 2 || rest[0] != '/' || strings.IndexByte(rest[1:], '/') >= 0 {
		return "", false
	}
	return rest[1:], true
}
