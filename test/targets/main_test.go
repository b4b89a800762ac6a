package targets

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/test/conformance/rig"
)

// patience bounds every wait that a sound machine ends by itself.
const patience = 60 * time.Second

// place is what all tests share. Its parts are made when the first test asks for them.
type place struct {
	dir        string // temporary, with a name that needs no quoting
	odd        string // below it, with a name that does
	executable string // simplex in a folder of such a name, the same path on every target

	build  func() error
	sshd   func() (*sshd, error)
	engine func() (*engine, error)
}

var shared *place

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("SKIPPED: -short leaves out sshd and the Docker engine")
		return 0
	}
	dir, err := os.MkdirTemp("", "simplex-targets-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared = newPlace(dir)
	// What a container's processes leave behind becomes a child of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := shared.close(); err != nil {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			code = 1
		}
	}()
	return m.Run()
}

// Names that a shell would take apart.
const (
	oddName     = "it's a  $HOME *\"place\""
	oddPrograms = "Don't `touch` \\this;"
)

func newPlace(dir string) *place {
	unix.Umask(0o022)
	p := &place{dir: dir, odd: filepath.Join(dir, oddName)}
	p.executable = filepath.Join(dir, oddPrograms, "simplex")
	p.build = sync.OnceValue(p.compile)
	p.sshd = sync.OnceValues(func() (*sshd, error) { return startSSHD(filepath.Join(dir, "sshd")) })
	p.engine = sync.OnceValues(func() (*engine, error) { return startEngine(p) })
	return p
}

// compile runs the recipe of `make static` with another place for its result, and puts
// busybox beside it as the shell of containers.
func (p *place) compile() error {
	if err := rig.Sources(); err != nil {
		return err
	}
	recipe := exec.Command("make", "--no-print-directory", "-n", "static")
	recipe.Dir = "../.."
	recipe.Env = without(os.Environ(), "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
	script, err := recipe.Output()
	if err != nil {
		return fmt.Errorf("make -n static: %w", err)
	}
	if err := os.Mkdir(filepath.Dir(p.executable), 0o755); err != nil {
		return err
	}
	built := filepath.Join(p.dir, "static")
	cmd := exec.Command("sh", "-ec", strings.ReplaceAll(string(script), "bin/simplex-static", built))
	cmd.Dir, cmd.Env = "../..", rig.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the recipe of make static: %w\n%s", err, out)
	}
	return os.Rename(built, p.executable)
}

func without(environ []string, names ...string) []string {
	var out []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		keep := true
		for _, n := range names {
			keep = keep && n != name
		}
		if keep {
			out = append(out, e)
		}
	}
	return out
}

// close ends the daemons that were started and removes everything.
func (p *place) close() error {
	var first error
	keep := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	// A daemon that nobody asked for is not started here: OnceValues would, so its folder tells.
	if _, err := os.Stat(filepath.Join(p.dir, "sshd")); err == nil {
		if s, err := p.sshd(); err == nil {
			keep(s.daemon.stop())
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "engine")); err == nil {
		if e, err := p.engine(); err == nil {
			keep(e.stop())
		}
	}
	keep(reap())
	keep(os.RemoveAll(p.dir))
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(string(mounts), p.dir) {
		keep(fmt.Errorf("mounts below %s", p.dir))
	}
	return first
}

// reap waits until the last orphan has ended. All children of exec.Cmd have by then.
func reap() error {
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case err == unix.ECHILD:
			return nil
		case pid == 0:
			<-tick.C
		}
	}
	return errors.New("a process")
}

// programs builds what is tested.
func programs(t testing.TB) *place {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("real targets need root")
	}
	if err := shared.build(); err != nil {
		t.Fatal(err)
	}
	return shared
}
