package load

import (
	"os"
	"testing"

	"simplex/load/prompt"
)

// FuzzFromTree shows that no document makes the checker or the builder panic.
func FuzzFromTree(f *testing.F) {
	f.Add([]byte(minimal))
	raw, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("driver_model: m\nproviders: {m: {model: x, endpoint: {extra_headers: {a: $}}}}\nclient: {endpoint: 'ws://h'}\nplugins: {extensions: {tools: {enable: [{name: a}]}}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg, err := fromText(string(raw), Options{Env: environment(map[string]string{"DEEPSEEK_API_KEY": "k"})})
		if (cfg == nil) == (err == nil) {
			t.Fatalf("%v, %v", cfg, err)
		}
		if cfg != nil {
			cfg.Driver.Factory()
		}
		_, _ = prompt.Parse("p.yaml", raw)
	})
}
