package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/prompts"
)

// TestDefaultPromptsAreShipped finds the default of every prompt key among the embedded files.
func TestDefaultPromptsAreShipped(t *testing.T) {
	t.Parallel()
	for i := range keys {
		if k := &keys[i]; k.Type == TypePrompt && prompts.Shipped(strings.TrimPrefix(k.Default, "prompts/")) == nil {
			t.Errorf("%s: nothing is shipped as %s", k.Path, k.Default)
		}
	}
}

// TestPromptFiles shows where prompts come from.
func TestPromptFiles(t *testing.T) {
	t.Parallel()
	const own = "sections: [{name: a, text: own}]"
	base := "driver_model: m\nproviders: {m: {model: x}}\nclient: {endpoint: ws://h}\n"
	for _, c := range []struct {
		name, worker string
		files        map[string]string
		system, fail string // text of the system prompt, or a part of the error
	}{
		{"embedded", "", nil, "You are an experienced", ""},
		{"installation", "", map[string]string{"prompts/coding_agent.yaml": own}, "own", ""},
		{"installation, same as shipped", "", map[string]string{"prompts/coding_agent.yaml": string(prompts.Shipped("coding_agent.yaml"))}, "You are an experienced", ""},
		{"configured", "system_prompt_file: my/p.yaml", map[string]string{"my/p.yaml": own}, "own", ""},
		{"empty prompt is allowed", "system_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: []"}, "", ""},
		{"configured and missing", "system_prompt_file: my/p.yaml", nil, "", "config.yaml:5: /worker/system_prompt_file: "},
		{"configured as the default, missing", "system_prompt_file: prompts/coding_agent.yaml", nil, "", "config.yaml:5: /worker/system_prompt_file: "},
		{"a directory", "system_prompt_file: my", map[string]string{"my/p.yaml": own}, "", "not a regular file"},
		{"outside", "system_prompt_file: ../p.yaml", nil, "", ".. component"},
		{"broken in the installation", "", map[string]string{"prompts/operations/compact.yaml": "sections: 5"}, "", "prompts/operations/compact.yaml:1: /sections: must be a list"},
		{"blank operation", "compact_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: [{name: a, text: ' '}]"}, "", "must not be blank"},
		{"blank continuation", "auto_compact_continue_prompt_file: p.yaml", map[string]string{"p.yaml": "sections: []"}, "", "must not be blank"},
		{"automatic compaction is off, default not read", "", map[string]string{"prompts/operations/auto_compact.yaml": "5"}, "You are", ""},
		{"automatic compaction is off, key present", "auto_compact_prompt_file: p.yaml", map[string]string{"p.yaml": "5"}, "", "p.yaml:1"},
		{"automatic compaction is on", "auto_compact_threshold: 5", map[string]string{"prompts/operations/auto_compact.yaml": "5"}, "", "auto_compact.yaml:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			exe := t.TempDir()
			for name, text := range c.files {
				file := filepath.Join(exe, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			doc := base
			if c.worker != "" {
				doc += "worker:\n  " + c.worker + "\n"
			}
			cfg, err := fromText(doc, Options{Env: Env{ExeDir: exe}})
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Fatalf("got %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := cfg.Prompts.System.Text()
			if err != nil || !strings.Contains(text, c.system) || (cfg.Prompts.AutoCompact != nil) != strings.Contains(c.worker, "threshold") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
