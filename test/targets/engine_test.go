package targets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// engine is a Docker engine with one kept container.
type engine struct {
	daemon  *daemon
	socket  string
	config  string // of the client
	cgroup  string
	context string // of docker build
}

// container is the name of the kept container; its image was built by docker/Dockerfile.
const (
	container = "kept"
	image     = "simplex-target"
)

func startEngine(p *place) (*engine, error) {
	dir := filepath.Join(p.dir, "engine")
	e := &engine{
		socket: filepath.Join(dir, "s"), config: filepath.Join(dir, "client"), context: filepath.Join(dir, "context"),
		cgroup: "/" + filepath.Base(p.dir),
	}
	for _, d := range []string{dir, e.config, e.context} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return nil, err
		}
	}
	settings := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(settings, []byte("{}"), 0o600); err != nil {
		return nil, err
	}
	var err error
	// Whatever its options say, the engine writes below these, too: here to copies of its own.
	script := `cp -a /etc "$1" && mount --bind "$1/etc" /etc && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /opt && shift && exec dockerd "$@"`
	e.daemon, err = startDaemon(exec.Command("sh", "-c", script, "dockerd", dir, "--config-file="+settings, "--host=unix://"+e.socket,
		"--data-root="+dir+"/data", "--exec-root="+dir+"/exec", "--pidfile="+dir+"/pid",
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs",
		"--exec-opt=native.cgroupdriver=cgroupfs", "--cgroup-parent="+e.cgroup), dir)
	if err != nil {
		return nil, err
	}
	if err := e.keep(p); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

// keep builds the image and starts the container.
func (e *engine) keep(p *place) error {
	tree := filepath.Join(p.dir, "engine", "tree")
	programs := filepath.Join(tree, filepath.Dir(p.executable))
	for _, d := range []string{programs, filepath.Join(tree, "bin")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(tree, "tmp"), 0o777|fs.ModeSticky); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink("/usr/local/bin/simplex", filepath.Join(programs, "simplex")); err != nil {
		return err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	for _, line := range [][]string{
		{"cp", "-L", busybox, tree + "/bin/busybox"},
		{"ln", "-s", "busybox", tree + "/bin/sh"},
		{"../../docker/rootfs.sh", p.executable, e.context + "/rootfs.tar", tree},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", line[0], err, out)
		}
	}
	for _, line := range [][]string{
		{"build", "-q", "-t", image, "-f", "../../docker/Dockerfile", e.context},
		{"run", "-d", "--name", container, "--network", "host", image},
	} {
		if out, err := e.docker(line...).CombinedOutput(); err != nil {
			return fmt.Errorf("docker %s: %w\n%s", line[0], err, out)
		}
	}
	return nil
}

// docker is a command of this engine's client.
func (e *engine) docker(args ...string) *exec.Cmd {
	return exec.Command("docker", append([]string{"--config", e.config, "-H", "unix://" + e.socket}, args...)...)
}

// discard removes a container at the end of a test.
func (e *engine) discard(t testing.TB, name string) {
	t.Cleanup(func() {
		if out, err := e.docker("rm", "-f", name).CombinedOutput(); err != nil {
			t.Errorf("docker rm %s: %v\n%s", name, err, out)
		}
	})
}

// stop ends containers and engine and removes their control groups.
func (e *engine) stop() error {
	if ids, err := e.docker("ps", "-aq").Output(); err == nil && len(ids) > 0 {
		_ = e.docker(append([]string{"rm", "-f"}, strings.Fields(string(ids))...)...).Run()
	}
	err := e.daemon.stop()
	groups, _ := filepath.Glob("/sys/fs/cgroup/*" + e.cgroup)
	for _, group := range append(groups, "/sys/fs/cgroup"+e.cgroup) {
		if rerr := syscall.Rmdir(group); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("%s: %w", group, rerr))
		}
	}
	return err
}
