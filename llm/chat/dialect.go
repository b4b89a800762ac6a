package chat

import (
	"simplex/llm"
	"simplex/state"
)

// Dialect is what sets one Chat Completions server apart from another. The zero value
// of each field means: as the generic protocol has it.
type Dialect struct {
	Endpoint llm.Endpoint // what the configuration leaves open
	// Options are advertised for change at run time; empty: the configured model alone.
	Options []llm.Option
	// Show and Patch are those of llm.SettingRules.
	Show  func(settings state.Object, name string) (state.Value, bool)
	Patch func(choice state.Object) state.Object
	// CacheHits is the member of usage that counts cached prompt tokens, looked at
	// when prompt_tokens_details has none.
	CacheHits string
	// ReplaysReasoning tells whether the model wants its reasoning back, by the
	// settings as Transform has left them; nil: never.
	ReplaysReasoning func(body state.Object) bool
	// Transform changes the settings part of a body at last, after the common rules.
	// It sees neither tools nor messages.
	Transform func(body state.Object) (state.Object, error)
}

// Generic is the dialect of the plugin openai-chat: any server of the protocol.
func Generic() Dialect {
	return Dialect{Endpoint: llm.Endpoint{
		RequestPath: "/v1/chat/completions",
		UserAgent:   "simplex-cpp",
	}}
}
