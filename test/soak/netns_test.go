package soak

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The addresses of the worker's and the Hub's end.
const (
	workerIP = "10.77.0.1"
	hubIP    = "10.77.0.2"
)

// world is three network namespaces: the worker's, the Hub's, and a middle one in which a
// link joins the other ends of their cables.
type world struct {
	t                   *testing.T
	worker, hub, middle string
	link                *link
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Fatal("network namespaces need iproute2: ", err)
	}
	id := fmt.Sprintf("sx%d", os.Getpid())
	w := &world{t: t, worker: id + "w", hub: id + "h", middle: id + "m"}
	for _, ns := range []string{w.worker, w.hub, w.middle} {
		w.ip("netns", "add", ns)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
		w.ip("-n", ns, "link", "set", "lo", "up")
	}
	w.cable(w.worker, "w", workerIP)
	w.cable(w.hub, "h", hubIP)
	w.link = newLink(t, func(f func() error) error { return w.within(w.middle, f) }, w.index("w1"), w.index("h1"))
	return w
}

// cable lays a veth from a namespace to the middle.
func (w *world) cable(ns, name, address string) {
	w.t.Helper()
	w.ip("-n", ns, "link", "add", name+"0", "type", "veth", "peer", "name", name+"1", "netns", w.middle)
	w.ip("-n", ns, "addr", "add", address+"/24", "dev", name+"0")
	w.ip("-n", ns, "link", "set", name+"0", "up")
	w.ip("-n", w.middle, "link", "set", name+"1", "up")
}

func (w *world) ip(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) index(name string) (index int) {
	w.t.Helper()
	err := w.within(w.middle, func() error {
		i, err := net.InterfaceByName(name)
		if err == nil {
			index = i.Index
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return index
}

// within runs f on a thread that is in a namespace. Sockets that it makes stay there.
func (w *world) within(ns string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		file, err := os.Open("/run/netns/" + ns)
		if err != nil {
			done <- err
			return
		}
		defer func() { _ = file.Close() }()
		if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

// listen is net.Listen in a namespace.
func (w *world) listen(ns, addr string) (l net.Listener) {
	w.t.Helper()
	err := w.within(ns, func() (err error) {
		l, err = net.Listen("tcp4", addr)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}
