package targets

import (
	"path/filepath"
	"strings"
	"testing"
)

// The tar file is an image by itself, too, and needs no network.
func TestImport(t *testing.T) {
	t.Parallel()
	e, err := programs(t).engine()
	if err != nil {
		t.Fatal(err)
	}
	docker := func(args ...string) string {
		t.Helper()
		out, err := e.docker(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("docker %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	docker("import", "--change", `ENTRYPOINT ["/usr/local/bin/simplex-idle"]`, filepath.Join(e.context, "rootfs.tar"), "imported")
	docker("run", "-d", "--name", "imported", "--network", "none", "-v", "kept:/srv/simplex", "imported")
	e.discard(t, "imported")
	version := docker("exec", "imported", "simplex", "--version")
	if want := local().simplex(t, "--version"); version+"\n" != want.stdout {
		t.Errorf("version %q, want %q", version, want.stdout)
	}
	got := docker("exec", "imported", shell, "-c", "stat -c '%a %u:%g %n' / /tmp /root /srv/simplex /srv/simplex/allocations; echo $HOME $PATH")
	want := "755 0:0 /\n1777 0:0 /tmp\n700 0:0 /root\n700 0:0 /srv/simplex\n700 0:0 /srv/simplex/allocations\n"
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "/usr/local/bin") {
		t.Errorf("the root file system:\n%s", got)
	}
	// The allocations on a volume, without a network.
	tg := inContainer(t)
	tg.line = func(argv ...string) []string { return e.docker(append([]string{"exec", "imported"}, argv...)...).Args }
	s := store{root: "/srv/simplex/allocations"}
	tg.must(t, s.request("prepare", "a", object{"configuration": workerYAML}))
	tg.must(t, s.request("inspect", "a", nil))
	tg.must(t, s.request("remove", "a", nil))
	// Upon another image, which keeps what it has.
	docker("build", "-q", "-t", "based", "--build-arg", "BASE=imported", "-f", "../../docker/Dockerfile", e.context)
	if got := docker("run", "--rm", "--network", "none", "--entrypoint", "/bin/sh", "based", "-c", "simplex --version"); got != version {
		t.Errorf("version %q on a base, want %q", got, version)
	}
}

// The idle init reaps orphans, and `docker stop` reaches what `docker exec` started.
func TestIdleInit(t *testing.T) {
	t.Parallel()
	tg := inContainer(t)
	e, err := shared.engine()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := e.docker("run", "-d", "--name", "idle", "--network", "host", image).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.discard(t, "idle")
	tg.line = func(argv ...string) []string { return e.docker(append([]string{"exec", "idle"}, argv...)...).Args }

	// Of an orphan and its zombie nothing is left but init and the shell that counts.
	got, err := tg.call(t, shell, "-c", `(sh -c 'exit 0' & exec sleep 0.01) & true`)
	if err != nil || got.code != 0 {
		t.Fatalf("%v %v", err, got)
	}
	eventually(t, "the orphan is reaped", func() bool {
		got, err := tg.call(t, shell, "-c", `set -- /proc/[0-9]*; echo $#`)
		return err == nil && got.stdout == "2\n"
	})

	// A worker is told, has its time to end in order, and its allocation outlasts the restart.
	s := newStore(t, "idle")
	s.fresh(t, tg)
	h := newHosted(t, tg, s)
	worker := h.run(t)
	if out, err := e.docker("stop", "-t", "30", "idle").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if code := worker.exits(); code != 0 {
		t.Errorf("exit code %d of the worker: %s", code, &worker.stderr)
	}
	state, err := e.docker("inspect", "-f", "{{.State.ExitCode}} {{.State.OOMKilled}}", "idle").Output()
	if err != nil || string(state) != "0 false\n" {
		t.Errorf("the container ended with %s, %v", state, err)
	}
	if out, err := e.docker("start", "idle").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := h.inspect(t); !strings.Contains(got, `"status":"ready"`) || !strings.Contains(got, `"lease":"idle"`) {
		t.Errorf("after the restart: %s", got)
	}
}
