package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSessionIDs: names that could lead out of the session's place, or out of a log line,
// are wrong usage (BR-059). A NUL cannot be passed to a program at all.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, id := range []string{
		"../../evil", "/abs", "a/b", "..", ".", "", "a\nb", "проба-日本", ".hidden", "a b", "a\tb", `a\b`, "a:b",
		"a'b", "a\x1b[2Jb", "\xff", strings.Repeat("x", 129),
	} {
		for _, args := range [][]string{{"run", "--session=" + id}, {"chat", "--offline", "--prompt=hi", "--session=" + id}} {
			p := launch(t, dir, args...)
			p.exits(2)
			if text := p.stderr.String(); !strings.Contains(text, "--session") || strings.ContainsAny(text, "\x1b\t") {
				t.Errorf("%q: stderr %q", args, text)
			}
			if p.stdout.String() != "" {
				t.Errorf("%q: stdout %q", args, p.stdout)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
	for _, id := range []string{"-rf", "_", "A-9_z", strings.Repeat("x", 128)} {
		dir := t.TempDir()
		p := launch(t, dir, "chat", "--offline=text", "--prompt=hi", "--session="+id)
		p.exits(0)
		raw := readFile(t, filepath.Join(dir, "data", "session", "state", "state.json"))
		if !strings.Contains(raw, fmt.Sprintf(`"session_id": %q`, id)) {
			t.Errorf("%q is not the session's id in its state", id)
		}
	}
}

// yamlBlocks are the fenced YAML samples of a page that are whole worker configurations.
func yamlBlocks(t *testing.T, page string) []string {
	t.Helper()
	var out []string
	for i, part := range strings.Split(readFile(t, page), "```yaml\n") {
		block, _, closed := strings.Cut(part, "```")
		if i > 0 && closed && strings.Contains(block, "driver_model:") {
			out = append(out, block)
		}
	}
	return out
}

// TestSamplesAreTaken runs every sample configuration that the pages show: it must get as
// far as the model, which is the built-in one here.
func TestSamplesAreTaken(t *testing.T) {
	t.Parallel()
	samples := map[string]string{"config.example.yaml": readFile(t, "../../config.example.yaml")}
	for page, least := range map[string]int{"README.md": 1, "docs/configuration.md": 1} {
		blocks := yamlBlocks(t, filepath.Join("../..", page))
		if len(blocks) < least {
			t.Errorf("%s shows %d configurations, want %d at least", page, len(blocks), least)
		}
		for i, block := range blocks {
			samples[fmt.Sprintf("%s, sample %d", page, i+1)] = block
		}
	}
	for name, text := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := writeFile(t, filepath.Join(dir, "sample.yaml"), text)
			p := launch(t, dir, "chat", "--offline=text", "--config", file, "--session", "s1", "--prompt", "hi")
			p.exits(0)
			if diff := cmp.Diff("This is the offline model. It has no network and no key, and it always says this.\n", p.stdout.String()); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(p.stderr.String(), "unknown key") {
				t.Errorf("the sample has unknown keys:\n%s", p.stderr)
			}
		})
		t.Run(name+", as it is", func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(text, "client:") {
				t.Skip("for chat only")
			}
			dir := t.TempDir()
			file := writeFile(t, filepath.Join(dir, "sample.yaml"), text)
			keys := func(c *exec.Cmd) {
				c.Env = append(os.Environ(), "DEEPSEEK_API_KEY=k", "MODEL_API_KEY=k")
			}
			p := launchWith(t, dir, keys, "run", "--config", file, "--session", "s1")
			p.says("hub connection failed")
			p.signal(terminate)
			p.exits(0)
		})
	}
}
