package peers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a peer may take to start, and a chat to end.
const patience = time.Minute

// bench is what all tests here need: the program and the servers.
type bench struct {
	simplex string
	servers string // folder of the installed binaries
}

var shared bench

func TestMain(m *testing.M) {
	if os.Getenv("SIMPLEX_PEERS") == "" {
		fmt.Println("peers: SIMPLEX_PEERS is not set: nothing is installed or tested")
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "simplex-peers-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		return 1
	}
	return m.Run()
}

func prepare(dir string) error {
	shared.simplex = filepath.Join(dir, "simplex")
	installed := os.Getenv("SIMPLEX_PEERS_DIR")
	commands := [][]string{{"go", "build", "-o", shared.simplex, "simplex/cmd/simplex"}}
	if installed == "" {
		installed = filepath.Join(dir, "npm")
		commands = append(commands, []string{"../../scripts/peers.sh", installed})
	}
	shared.servers = filepath.Join(installed, "node_modules", ".bin")
	for _, line := range commands {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", line[0], err, out)
		}
	}
	return nil
}

// peer starts a server and waits until it takes connections on its port.
func peer(t *testing.T, dir, name string, args func(port string) []string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, filepath.Join(shared.servers, name), args(port)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT="+port, "NODE_ENV=production")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go announce(out, port, ready)
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed
	})
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatalf("%s does not start", name)
	}
	return "http://127.0.0.1:" + port
}

// announce closes ready when the server has said where it listens, and reads on until
// it ends.
func announce(out io.Reader, port string, ready chan<- struct{}) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if ready != nil && strings.Contains(line, ":"+port) && (strings.Contains(line, "listening on") || strings.Contains(line, "running on")) {
			close(ready)
			ready = nil
		}
	}
}

// said is what a chat has left.
type said struct {
	stdout, stderr string
	exit           int
}

// chat runs `simplex chat` with one prompt in a fresh folder, or in dir.
func chat(t *testing.T, dir, provider, prompt string) said {
	t.Helper()
	config := "driver_model: main\nproviders:\n  main:\n" + indent(provider) + "persistence: { directory: session }\n"
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, shared.simplex, "chat", "--config", path, "--approve", "--prompt", prompt)
	cmd.Dir = dir
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("the chat does not end\n%s", &errs)
	}
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

// answers fails unless the chat ended well and said all of these.
func (s said) answers(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if s.exit != 0 || !strings.Contains(s.stdout, part) {
			t.Fatalf("exit %d, want %q in\n%s\n%s", s.exit, part, s.stdout, s.stderr)
		}
	}
}

// fails wants exit 1, no answer, and these words on standard error.
func (s said) fails(t *testing.T, words string) {
	t.Helper()
	if s.exit != 1 || s.stdout != "" || !strings.Contains(s.stderr, words) {
		t.Fatalf("exit %d, want %q in\n%s\n%s", s.exit, words, s.stdout, s.stderr)
	}
}
