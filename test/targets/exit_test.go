package targets

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// Exit codes of the program arrive. What no program answered has none of its output.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, tg := range everywhere(t) {
		for _, code := range []string{"0", "1", "7", "125", "126", "127", "255"} {
			got, err := tg.call(t, shell, "-c", "echo out; echo err >&2; exit "+code)
			if err != nil || got.stdout != "out\n" || got.stderr != "err\n" || strconv.Itoa(got.code) != code {
				t.Errorf("%s: exit %s: %v %v", tg.name, code, err, got)
			}
		}
	}
}

// A transport that reached no program is no answer of the manager, whatever its code.
func TestNothingReached(t *testing.T) {
	t.Parallel()
	s, err := programs(t).sshd()
	if err != nil {
		t.Fatal(err)
	}
	e, err := shared.engine()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := e.docker("create", "--name", "stopped", "--network", "none", image).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.discard(t, "stopped")
	trap := filepath.Join(t.TempDir(), "pwned")
	manage := []string{shared.executable, "manage", "--request", encoded("{}")}
	ssh := func(host string, argv ...string) []string { return sshLine(s, host, argv) }
	docker := func(args ...string) []string { return e.docker(args...).Args }
	for name, c := range map[string]struct {
		line []string
		code []int
	}{
		"ssh: connection refused":        {ssh("refused", manage...), []int{255}},
		"ssh: unknown host":              {ssh("nowhere.invalid", manage...), []int{255}},
		"ssh: a host like an option":     {ssh("-oProxyCommand=touch "+trap, manage...), []int{255}},
		"ssh: the shell is killed":       {ssh(sshHost, shell, "-c", "kill -9 $PPID $$"), []int{255, 137}},
		"ssh: program missing":           {ssh(sshHost, "/no/simplex", "manage"), []int{127}},
		"ssh: no program":                {ssh(sshHost, "/etc/passwd", "manage"), []int{126}},
		"docker: no container":           {docker("exec", "nobody", "simplex"), []int{1}},
		"docker: container not running":  {docker("exec", "stopped", "simplex"), []int{1}},
		"docker: program missing":        {docker("exec", container, "/no/simplex"), []int{126, 127}},
		"docker: no program":             {docker("exec", container, "/srv"), []int{126, 127}},
		"docker: engine down":            {[]string{"docker", "--config", e.config, "-H", "unix:///nowhere", "exec", container, "simplex"}, []int{1}},
		"docker: unknown context":        {[]string{"docker", "--config", e.config, "--context", "nowhere", "exec", container, "simplex"}, []int{1}},
		"docker: wrong option of docker": {docker("exec", "--nonsense", container, "simplex"), []int{125, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(c.line[0], c.line[1:]...).Output()
			exit, ok := err.(*exec.ExitError)
			if !ok {
				t.Fatalf("%v %q", err, out)
			}
			t.Logf("exit code %d, stdout %q, stderr %q", exit.ExitCode(), out, exit.Stderr)
			found := false
			for _, code := range c.code {
				found = found || code == exit.ExitCode()
			}
			if !found {
				t.Errorf("exit code %d, want one of %v", exit.ExitCode(), c.code)
			}
			if len(out) > 0 && out[0] == '{' {
				t.Errorf("looks like an answer: %q", out)
			}
			if _, err := os.Lstat(trap); err == nil {
				t.Error("a part of the command line was executed here")
			}
		})
	}
}
