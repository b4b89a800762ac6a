package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// typed are command lines before a Tab, and what must be offered then.
var typedLines = map[string]string{
	"simplex ":                  "chat",
	"simplex gen":               "generate",
	"simplex run --c":           "--config",
	"simplex chat --app":        "--approve",
	"simplex run --config here": "here.yaml",
	"simplex run --log-form":    "--log-format",
	"simplex run --log-level w": "warn",
	"simplex generate z":        "zsh",
	"simplex state s":           "settle",
	"simplex state settle --re": "--result",
	"simplex help man":          "manage",
}

func shellProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here", name)
	}
	return path
}

func completionDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "here.yaml"), "")
	return dir
}

func runShell(t *testing.T, program, dir, script string) string {
	t.Helper()
	cmd := exec.Command(program, "-c", script)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v: %s", script, err, stderr.String())
	}
	return string(out)
}

func TestBashCompletion(t *testing.T) {
	t.Parallel()
	bash, dir := shellProgram(t, "bash"), completionDir(t)
	offers := func(words ...string) string {
		return runShell(t, bash, dir, `source <(simplex generate bash)
COMP_WORDS=(`+strings.Join(words, " ")+`); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _simplex; echo "${COMPREPLY[*]}"`)
	}
	for line, want := range typedLines {
		words := strings.Split(line, " ")
		if words[len(words)-1] == "" {
			words[len(words)-1] = `""`
		}
		if got := offers(words...); !strings.Contains(got, want) {
			t.Errorf("%q offers %q, want %q", line, got, want)
		}
	}
	if got := offers("simplex", "run", `""`); strings.Contains(got, "help ") || !strings.Contains(got, "--session") {
		t.Errorf("run offers %q", got)
	}
	if got := offers("simplex", "generate", `""`); !strings.HasPrefix(got, "man bash zsh fish") {
		t.Errorf("generate offers %q", got)
	}
	// The shell makes three words of --offline=ec.
	if got := offers("simplex", "chat", "--offline", "=", "ec"); strings.TrimSpace(got) != "echo" {
		t.Errorf("--offline=ec offers %q", got)
	}
}

func TestFishCompletion(t *testing.T) {
	t.Parallel()
	fish, dir := shellProgram(t, "fish"), completionDir(t)
	if script := runShell(t, fish, dir, "simplex generate fish"); strings.Contains(script, "`") {
		t.Errorf("backticks in %s", script)
	}
	for line, want := range typedLines {
		if got := runShell(t, fish, dir, "simplex generate fish | source; complete -C '"+line+"'"); !strings.Contains(got, want) {
			t.Errorf("%q offers %q, want %q", line, got, want)
		}
	}
	if got := runShell(t, fish, dir, "simplex generate fish | source; complete -C 'simplex chat --offline=ec'"); !strings.HasPrefix(got, "--offline=echo") {
		t.Errorf("--offline=ec offers %q", got)
	}
}

// TestZshCompletion presses Tab in a zsh on a terminal: its completion has no other door.
func TestZshCompletion(t *testing.T) {
	t.Parallel()
	zsh, dir := shellProgram(t, "zsh"), completionDir(t)
	for line, want := range typedLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			d := inTerminal(t, dir, zsh)
			d.types("PS1='ready''# '; autoload -U compinit && compinit -u -D; source <(simplex generate zsh); bindkey '^I' complete-word\n")
			d.sees("ready# ")
			d.types(line + "\t")
			d.sees(strings.TrimSuffix(line, line[strings.LastIndex(line, " ")+1:]))
			d.sees(want)
			if screen := d.stderr.String(); strings.Contains(screen, "not found") || strings.Contains(screen, "unrecognized") {
				t.Errorf("zsh complains:\n%s", screen)
			}
		})
	}
}

// inTerminal starts an interactive zsh without a person's settings in a new terminal.
func inTerminal(t *testing.T, dir, zsh string) *dialogue {
	t.Helper()
	cmd := exec.Command(zsh, "-f", "-i")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TERM=dumb")
	keys, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: cmd, stdout: newTranscript(), stderr: newTranscript(), done: make(chan struct{})}
	p.cmd.WaitDelay = 5 * time.Second
	go func() { defer close(p.done); p.err = cmd.Wait() }()
	d := &dialogue{program: p, keys: keys, copied: make(chan struct{})}
	go func() { defer close(d.copied); _, _ = io.Copy(d.stderr, keys) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-d.done
		_ = keys.Close()
		<-d.copied
	})
	return d
}
