package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/llm/offline"
)

const modelKey = "sk-test-0123456789-very-secret"

// endpointConfig is what a real OpenAI-compatible endpoint needs, and nothing else.
func endpointConfig(t *testing.T, dir, baseURL string) string {
	t.Helper()
	return writeFile(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf(`
driver_model: main
providers:
  main:
    plugin: openai-chat
    model: some-model
    endpoint:
      base_url: %s
      auth: { api_key: "${MODEL_API_KEY}" }
    retry: { max_attempts: 1, initial_backoff_ms: 1, max_backoff_ms: 1 }
persistence: { directory: session }
`, baseURL))
}

func withKey(c *exec.Cmd) { c.Env = append(os.Environ(), "MODEL_API_KEY="+modelKey) }

// secretKept checks that the key is nowhere: neither shown nor logged nor saved.
func secretKept(t *testing.T, p *program, dir string) {
	t.Helper()
	if strings.Contains(p.stdout.String()+p.stderr.String(), modelKey) {
		t.Errorf("the key is shown:\n%s%s", p.stdout, p.stderr)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if strings.Contains(readFile(t, path), modelKey) {
			t.Errorf("the key is in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRealEndpointNeedsKeyAndBaseURL(t *testing.T) {
	t.Parallel()
	m := newModel(t, []offline.Reply{calls(shell("c1", "echo from-the-tool", 20000)), {Text: "All done."}})
	dir := t.TempDir()
	p := launchWith(t, dir, withKey, "chat", "--config", endpointConfig(t, dir, m.URL), "--approve", "--log-level", "debug", "--prompt", "go")
	p.exits(0)
	if got := p.stdout.String(); got != "All done.\n" {
		t.Errorf("stdout %q", got)
	}
	for n := 1; n <= 2; n++ {
		if got := m.head(n); got != "/v1/chat/completions Bearer "+modelKey {
			t.Errorf("request %d: %s", n, got)
		}
	}
	if body := m.last(); !strings.Contains(body, `"model":"some-model"`) || !strings.Contains(body, "from-the-tool") {
		t.Errorf("last request: %.500s", body)
	}
	secretKept(t, p, dir)
}

func TestEndpointThatFails(t *testing.T) {
	t.Parallel()
	// A careless server repeats the key in what it says.
	unauthorized := offline.Reply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + modelKey + `"}}`}
	broken := offline.Reply{Status: 500, Body: `{"error":{"message":"the server is on fire"}}`}
	garbage := offline.Reply{Body: "data: {\"error\":{\"message\":\"quota exceeded for " + modelKey + "\"}}\n\ndata: [DONE]\n\n"}
	for name, c := range map[string]struct {
		script   []offline.Reply
		want     string
		requests int
	}{
		"401":            {[]offline.Reply{unauthorized, unauthorized}, "Incorrect API key", 1},
		"500":            {[]offline.Reply{broken, broken}, "the server is on fire", 2},
		"error in a 200": {[]offline.Reply{garbage, garbage}, "quota exceeded", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, c.script)
			dir := t.TempDir()
			p := launchWith(t, dir, withKey, "chat", "--config", endpointConfig(t, dir, m.URL), "--log-level", "debug", "--prompt", "go")
			p.exits(1)
			if p.stdout.String() != "" || !strings.Contains(p.stderr.String(), c.want) {
				t.Errorf("stdout %q, stderr without %q:\n%s", p.stdout, c.want, p.stderr)
			}
			if got := m.requests(); c.requests > 0 && got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			secretKept(t, p, dir)
		})
	}
}

func TestEndpointThatIsAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launchWith(t, dir, withKey, "chat", "--config", endpointConfig(t, dir, "http://"+refusing(t)), "--prompt", "go")
	p.exits(1)
	if p.stdout.String() != "" || !strings.Contains(p.stderr.String(), "refused") {
		t.Errorf("stdout %q, stderr:\n%s", p.stdout, p.stderr)
	}
	secretKept(t, p, dir)
}

func TestEndpointWithoutKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, dir, "chat", "--config", endpointConfig(t, dir, "http://127.0.0.1:1"), "--prompt", "go")
	p.exits(1)
	if !strings.Contains(p.stderr.String(), "MODEL_API_KEY") || !strings.Contains(p.stderr.String(), "config.yaml:9") {
		t.Errorf("stderr names neither the variable nor its place:\n%s", p.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "session")); err == nil {
		t.Error("a session was made")
	}
}

// An answer of many characters and several bytes each is shown shortened in its event;
// standard output still is the whole of it.
func TestLongAnswersArriveWhole(t *testing.T) {
	t.Parallel()
	answer := strings.Repeat("é漢🙂 ", 100_000)
	m := newModel(t, []offline.Reply{{Text: answer}})
	dir := t.TempDir()
	p := launchWith(t, dir, withKey, "chat", "--config", endpointConfig(t, dir, m.URL), "--prompt", "go")
	p.exits(0)
	if got := p.stdout.String(); got != answer+"\n" {
		t.Errorf("%d bytes arrived, want %d", len(got), len(answer)+1)
	}
}

// Standard input that ends at a question denies the call; the run is seen to its end, and
// so is the program.
func TestInputThatEndsAtAQuestion(t *testing.T) {
	t.Parallel()
	p := launchWith(t, t.TempDir(), func(c *exec.Cmd) { c.Stdin = strings.NewReader("hello\n") }, "chat", "--offline")
	p.exits(0)
	if !strings.Contains(p.stderr.String(), "-- denied") {
		t.Error("the call was not denied")
	}
}

// A full disk and a reader that went away: both are reported, on no machine skipped.
func TestUnwritableOutputIsAFailure(t *testing.T) {
	t.Parallel()
	full, gone := fullDevice(t), closedPipe(t)
	tests := []struct {
		name   string
		stdout *os.File
		args   []string
	}{
		{"full: chat", full, []string{"chat", "--offline=text", "--prompt", "x"}},
		{"full: chat as JSON", full, []string{"chat", "--offline=text", "--prompt", "x", "--json"}},
		{"full: version", full, []string{"--version"}},
		{"closed: chat", gone, []string{"chat", "--offline=text", "--prompt", "x"}},
		{"closed: chat as JSON", gone, []string{"chat", "--offline=text", "--prompt", "x", "--json"}},
	}
	for _, tt := range tests {
		var stderr strings.Builder
		cmd := exec.Command("simplex", tt.args...)
		cmd.Dir = t.TempDir()
		cmd.Stdout, cmd.Stderr = tt.stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || stderr.Len() == 0 {
			t.Errorf("%s: %v, want exit code 1 and a reason; stderr %q", tt.name, err, &stderr)
		}
	}
}

// refusing is an address that refuses connections until the test ends: the port is bound,
// so that no other test's server gets it meanwhile, but nobody listens.
func refusing(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

// fullDevice takes no byte. Linux has it in every container; where it is away, the test
// fails, for nothing else would show that a full disk is noticed.
func fullDevice(t testing.TB) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("these tests need /dev/full (mknod -m 666 /dev/full c 1 7): %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// closedPipe takes no byte, either: nobody reads it.
func closedPipe(t testing.TB) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() { _ = w.Close() })
	return w
}
