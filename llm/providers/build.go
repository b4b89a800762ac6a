package providers

import (
	"fmt"
	"slices"
	"strings"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/llm/deepseek"
	"simplex/llm/offline"
	"simplex/llm/qwen"
	"simplex/llm/responses"
)

// plugin is one entry of the list.
type plugin struct {
	name  string
	build func(llm.Config) (llm.Provider, error)
}

// compiled lists the plugins (worker-data.md §2.10b).
func compiled() []plugin {
	return []plugin{
		{"deepseek", func(c llm.Config) (llm.Provider, error) {
			return built(chat.New(chat.Config{Config: c, Dialect: deepseek.Dialect()}))
		}},
		{"offline", func(c llm.Config) (llm.Provider, error) {
			return built(offline.New(c))
		}},
		{"openai", func(c llm.Config) (llm.Provider, error) {
			return built(responses.New(responses.Config{Config: c, Dialect: responses.OpenAI()}))
		}},
		{"openai-chat", func(c llm.Config) (llm.Provider, error) {
			return built(chat.New(chat.Config{Config: c, Dialect: chat.Generic()}))
		}},
		{"qwen", func(c llm.Config) (llm.Provider, error) {
			return built(chat.New(chat.Config{Config: c, Dialect: qwen.Dialect()}))
		}},
	}
}

// built keeps a nil pointer from becoming a provider that is not nil.
func built[P llm.Provider](p P, err error) (llm.Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Names lists the plugins, sorted.
func Names() []string {
	var names []string
	for _, p := range compiled() {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

// Build makes the provider that cfg.Plugin names; an empty name means cfg.Name. An
// unknown one is llm.ErrUnknownPlugin and lists those that exist. Nothing is connected
// or started yet.
func Build(cfg llm.Config) (llm.Provider, error) {
	name := cfg.Plugin
	if name == "" {
		name = cfg.Name
	}
	for _, p := range compiled() {
		if p.name == name {
			return p.build(cfg)
		}
	}
	return nil, fmt.Errorf("%w: %q; there are: %s", llm.ErrUnknownPlugin, name, strings.Join(Names(), ", "))
}
