package exec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// marked finds the living processes that carry a mark, whoever their parent is, with
// their command lines.
func marked(t testing.TB, mark string) map[int]string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	found := make(map[int]string)
	for _, dir := range dirs {
		environ, err := environment(dir)
		if err != nil || !bytes.Contains(environ, []byte(mark+"\x00")) || dead(dir) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return found
}

// bare are the processes that were seen to have no environment.
var bare sync.Map

// environment reads a process's environment. In the middle of an exec it is empty for an
// instant, which must not let a process pass unseen.
func environment(dir string) ([]byte, error) {
	for began := time.Now(); ; {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || len(environ) > 0 || dead(dir) {
			return environ, err
		}
		if size, err := os.ReadFile(filepath.Join(dir, "statm")); err != nil || bytes.HasPrefix(size, []byte("0 ")) {
			return nil, err // a thread of the kernel
		}
		if _, known := bare.Load(dir); known || time.Since(began) > time.Second {
			bare.Store(dir, nil)
			return nil, nil
		}
		runtime.Gosched()
	}
}

// dead tells whether a process only waits to be reaped.
func dead(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return true
	}
	at := bytes.LastIndexByte(stat, ')')
	return at < 0 || at+2 >= len(stat) || stat[at+2] == 'Z' || stat[at+2] == 'X'
}

// kill ends a process that a test started, and returns once it is dead.
func kill(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	must(t, err)
	defer func() { _ = unix.Close(fd) }()
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatalf("kill %d: %v", pid, err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 {
			t.Fatalf("%d outlives SIGKILL: %v", pid, err)
		}
		return
	}
}

// uproot ends every process that carries a mark, those that come while others go, too.
func uproot(t testing.TB, mark string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		left := marked(t, mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("cannot end %v", left)
		}
		for pid := range left {
			kill(t, pid)
		}
	}
}

// descriptors counts what this process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	list, err := filepath.Glob("/proc/self/fd/*")
	must(t, err)
	return len(list)
}

// resident is the memory of a process as the kernel counts it: VmRSS now, or VmHWM, its
// peak. In bytes.
func resident(t testing.TB, pid int, name string) int64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must(t, err)
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			must(t, err)
			return kib << 10
		}
	}
	t.Fatalf("no %s of %d", name, pid)
	return 0
}
