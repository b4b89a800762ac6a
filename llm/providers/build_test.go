package providers_test

import (
	"errors"
	"strings"
	"testing"

	"simplex/llm"
	"simplex/llm/providers"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, name := range providers.Names() {
		cfg := llm.Config{Name: "mine", Plugin: name, Model: "m", Endpoint: llm.Endpoint{BaseURL: "http://127.0.0.1:9"}}
		p, err := providers.Build(cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p.Name() != "mine" {
			t.Error(p.Name())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if p, err := providers.Build(llm.Config{Name: "deepseek", Model: "m"}); err != nil || p == nil {
		t.Errorf("the entry's name is not taken for the plugin: %v", err)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]llm.Config{
		"there are: deepseek, offline, openai, openai-chat, qwen": {Name: "a", Plugin: "claude", Model: "m"},
		"/model: is missing":   {Name: "a", Plugin: "deepseek"},
		"base_url: is missing": {Name: "a", Plugin: "openai-chat", Model: "m"},
	} {
		p, err := providers.Build(cfg)
		if p != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %s", p, err, want)
		}
	}
	if _, err := providers.Build(llm.Config{Plugin: "x"}); !errors.Is(err, llm.ErrUnknownPlugin) {
		t.Error(err)
	}
}
