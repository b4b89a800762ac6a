package load

import "simplex/load/schema"

// The types of text that only the configuration has.
const (
	TypeEndpoint schema.Type = "WebSocket URL"
	TypePrompt   schema.Type = "prompt path" // confined below the installation
	TypeChild    schema.Type = "child path"  // relative, no `..`
)

const minWriteBytes = 16 << 20

// keys is the table of known keys: the single source of validation, defaults,
// unknown-key warnings and of the tests of docs/configuration.md. It is composed of
// constants only, so it costs nothing at start.
var keys = [...]schema.Key{
	{Path: "/driver_model", Type: schema.Text, Required: true, NonEmpty: true},
	{Path: "/modality_assist_model", Type: schema.Text, NonEmpty: true},
	{Path: "/providers", Type: schema.Table},
	{Path: "/providers/*", Type: schema.Mapping},
	{Path: "/providers/*/plugin", Type: schema.Text, NonEmpty: true},
	{Path: "/providers/*/model", Type: schema.Text, Required: true, NonEmpty: true},
	{Path: "/providers/*/config", Type: schema.Object},
	{Path: "/providers/*/endpoint", Type: schema.Mapping},
	{Path: "/providers/*/endpoint/base_url", Type: schema.Text},
	{Path: "/providers/*/endpoint/request_path", Type: schema.Text},
	{Path: "/providers/*/endpoint/user_agent", Type: schema.Text},
	{Path: "/providers/*/endpoint/auth", Type: schema.Mapping},
	{Path: "/providers/*/endpoint/auth/scheme", Type: schema.Text, Default: "bearer", Enum: []string{"none", "bearer", "custom_header"}},
	{Path: "/providers/*/endpoint/auth/api_key", Type: schema.Text},
	{Path: "/providers/*/endpoint/auth/header_name", Type: schema.Text, Default: "x-api-key"},
	{Path: "/providers/*/endpoint/auth/extras", Type: schema.Object},
	{Path: "/providers/*/endpoint/extra_headers", Type: schema.Table},
	{Path: "/providers/*/endpoint/extra_headers/*", Type: schema.Text},
	{Path: "/providers/*/endpoint/extras", Type: schema.Object},
	{Path: "/providers/*/retry", Type: schema.Mapping},
	{Path: "/providers/*/retry/max_attempts", Type: schema.Int, Default: "3"},
	{Path: "/providers/*/retry/initial_backoff_ms", Type: schema.Int, Default: "500", Min: 1},
	{Path: "/providers/*/retry/max_backoff_ms", Type: schema.Int, Default: "120000", Min: 1},
	{Path: "/providers/*/retry/idle_timeout_ms", Type: schema.Int, Default: "300000"},

	{Path: "/client", Type: schema.Mapping},
	{Path: "/client/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/client/payload_capacity", Type: schema.Int, Default: "256", Min: 1},
	{Path: "/client/signal_capacity", Type: schema.Int, Default: "256", Min: 1},
	{Path: "/client/query_capacity", Type: schema.Int, Default: "64", Min: 1},
	{Path: "/client/transport", Type: schema.Mapping},
	{Path: "/client/transport/write_capacity", Type: schema.Int, Default: "256", Min: 1},
	{Path: "/client/transport/write_byte_capacity", Type: schema.Int, Default: "16777216", Min: minWriteBytes},
	{Path: "/client/transport/initial_backoff_ms", Type: schema.Int, Default: "250", Min: 1},
	{Path: "/client/transport/max_backoff_ms", Type: schema.Int, Default: "10000", Min: 1},
	{Path: "/client/transport/idle_timeout_seconds", Type: schema.Int, Default: "0"},

	{Path: "/security", Type: schema.Mapping},
	{Path: "/security/confirmation", Type: schema.Mapping, Optional: true},
	{Path: "/security/confirmation/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/security/confirmation/timeout_ms", Type: schema.Int, Default: "120000", Min: 1},
	{Path: "/security/sandbox", Type: schema.Mapping},
	{Path: "/security/sandbox/filesystem", Type: schema.Text, Default: "off", Enum: []string{"off", "workspace"}},
	{Path: "/hub_remote_call", Type: schema.Mapping, Optional: true},
	{Path: "/hub_remote_call/endpoint", Type: TypeEndpoint, Required: true},
	{Path: "/hub_remote_call/timeout_ms", Type: schema.Int, Default: "120000", Min: 1},

	{Path: "/worker", Type: schema.Mapping},
	{Path: "/worker/max_exchanges", Type: schema.Int, Default: "512", Min: 1},
	{Path: "/worker/event_capacity", Type: schema.Int, Default: "1024", Min: 1},
	{Path: "/worker/auto_compact_threshold", Type: schema.Int, Default: "0"},
	{Path: "/worker/max_auto_compactions", Type: schema.Int, Default: "5", Min: 1},
	{Path: "/worker/system_prompt", Type: schema.Refused},
	{Path: "/worker/system_prompt_file", Type: TypePrompt, Default: "prompts/coding_agent.yaml"},
	{Path: "/worker/compact_prompt_file", Type: TypePrompt, Default: "prompts/operations/compact.yaml"},
	{Path: "/worker/auto_compact_prompt_file", Type: TypePrompt, Default: "prompts/operations/auto_compact.yaml"},
	{Path: "/worker/auto_compact_continue_prompt_file", Type: TypePrompt, Default: "prompts/operations/auto_compact_continue.yaml"},
	{Path: "/worker/environment", Type: schema.Mapping},
	{Path: "/worker/environment/workspace", Type: schema.Path},
	{Path: "/worker/environment/platform", Type: schema.Text},
	{Path: "/worker/environment/software", Type: schema.List},
	{Path: "/worker/environment/software/*", Type: schema.Text},
	{Path: "/worker/process", Type: schema.Mapping},
	{Path: "/worker/process/max_output_bytes", Type: schema.Int, Default: "65536"},
	{Path: "/worker/process/tail_bytes", Type: schema.Int, Default: "8192"},

	{Path: "/persistence", Type: schema.Mapping},
	{Path: "/persistence/enabled", Type: schema.Bool, Default: "true"},
	{Path: "/persistence/directory", Type: schema.Path, Default: "./data/session", NonEmpty: true},
	{Path: "/persistence/state", Type: TypeChild, Default: "state"},
	{Path: "/persistence/memory", Type: TypeChild, Default: "memory"},
	{Path: "/persistence/memory_retention", Type: schema.Mapping},
	{Path: "/persistence/memory_retention/max_archives", Type: schema.Int, Default: "5"},
	{Path: "/persistence/format", Type: schema.Text, Default: "json", Enum: []string{"json", "sqlite"}},
	{Path: "/persistence/restore", Type: schema.Text, Default: "if_present", Enum: []string{"if_present", "never"}},
	{Path: "/persistence/readable", Type: schema.Bool, Default: "false"},
	{Path: "/persistence/save", Type: schema.Mapping},
	{Path: "/persistence/save/on_step_finished", Type: schema.Bool, Default: "true"},
	{Path: "/persistence/save/on_run_finished", Type: schema.Bool, Default: "true"},
	{Path: "/persistence/save/on_shutdown", Type: schema.Bool, Default: "true"},

	{Path: "/plugins", Type: schema.Mapping},
	{Path: "/plugins/providers", Type: schema.Mapping},
	{Path: "/plugins/providers/directories", Type: schema.List},
	{Path: "/plugins/providers/directories/*", Type: schema.Path, NonEmpty: true},
	{Path: "/plugins/extensions", Type: schema.Mapping},
	{Path: "/plugins/extensions/tools", Type: schema.Mapping},
	{Path: "/plugins/extensions/tools/directories", Type: schema.List},
	{Path: "/plugins/extensions/tools/directories/*", Type: schema.Path, NonEmpty: true},
	{Path: "/plugins/extensions/tools/enable", Type: schema.List},
	{Path: "/plugins/extensions/tools/enable/*", Type: schema.Mapping},
	{Path: "/plugins/extensions/tools/enable/*/name", Type: schema.Name, Required: true},
	{Path: "/plugins/extensions/tools/enable/*/schema_directory", Type: schema.Path, NonEmpty: true},
	{Path: "/plugins/extensions/tools/enable/*/trust", Type: schema.List},
	{Path: "/plugins/extensions/tools/enable/*/trust/*", Type: schema.Text, NonEmpty: true},
	{Path: "/plugins/extensions/loop_hooks", Type: schema.Mapping},
	{Path: "/plugins/extensions/loop_hooks/directories", Type: schema.List},
	{Path: "/plugins/extensions/loop_hooks/directories/*", Type: schema.Path, NonEmpty: true},
	{Path: "/plugins/extensions/loop_hooks/enable", Type: schema.List},
	{Path: "/plugins/extensions/loop_hooks/enable/*", Type: schema.Mapping},
	{Path: "/plugins/extensions/loop_hooks/enable/*/name", Type: schema.Name, Required: true},
	{Path: "/plugins/extensions/loop_hooks/enable/*/config_file", Type: schema.Path, NonEmpty: true},
}

// Keys gives a copy of the table of known keys.
func Keys() []schema.Key { return append([]schema.Key(nil), keys[:]...) }

// key finds a row; a path that the table lacks is a mistake in this package.
func key(path string) *schema.Key {
	for i := range keys {
		if keys[i].Path == path {
			return &keys[i]
		}
	}
	panic("load: no key " + path)
}
