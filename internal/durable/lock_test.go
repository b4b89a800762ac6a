package durable_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
)

var sessionLock = durable.LockConfig{Name: "session.lock"}

func TestLockExcludesAndIsReleased(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, other := mustOpen(t, root), mustOpen(t, root)
	release, err := dir.Lock(t.Context(), sessionLock)
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Lock(t.Context(), sessionLock)
	locked, ok := errors.AsType[*durable.LockedError](err)
	if !ok || !errors.Is(err, durable.ErrLocked) {
		t.Fatalf("second lock: %v", err)
	}
	path := filepath.Join(root, "session.lock")
	if locked.Path != path || locked.Holder.PID != os.Getpid() || locked.Holder.Command == "" {
		t.Errorf("held at %s by %+v; this is process %d", locked.Path, locked.Holder, os.Getpid())
	}
	if err := errors.Join(release(), release()); err != nil {
		t.Errorf("release: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o600 {
		t.Errorf("the lock file: %v, %v", st, err)
	}
	again, err := other.Lock(t.Context(), sessionLock)
	if err != nil {
		t.Fatal(err)
	}
	_ = again()
}

// A held lock is tried for the whole wait, on the injected timer and not by the clock.
func TestLockWaits(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, other := mustOpen(t, root), mustOpen(t, root)
	release, err := dir.Lock(t.Context(), sessionLock)
	if err != nil {
		t.Fatal(err)
	}
	var waited time.Duration
	fired := make(chan time.Time)
	close(fired)
	cfg := durable.LockConfig{Name: "session.lock", Wait: time.Second, After: func(d time.Duration) <-chan time.Time {
		waited += d
		return fired
	}}
	if _, err := other.Lock(t.Context(), cfg); !errors.Is(err, durable.ErrLocked) || waited != time.Second {
		t.Errorf("after %v: %v", waited, err)
	}
	waited = 0
	cfg.After = func(d time.Duration) <-chan time.Time {
		if waited += d; waited > time.Second/2 {
			_ = release()
		}
		return fired
	}
	got, err := other.Lock(t.Context(), cfg)
	if err != nil {
		t.Fatalf("after %v: %v", waited, err)
	}
	defer got()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cfg.After = func(time.Duration) <-chan time.Time { cancel(stop); return nil }
	if _, err := dir.Lock(ctx, cfg); !errors.Is(err, stop) {
		t.Errorf("cancelled wait: %v", err)
	}
}

func TestLockRefusesWhatIsNoRegularFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	err := errors.Join(
		os.WriteFile(at("real"), nil, 0o600),
		os.Symlink("real", at("link")),
		os.Symlink("nowhere", at("dangling")),
		os.Mkdir(at("folder"), 0o700),
		unix.Mkfifo(at("fifo"), 0o600),
		unix.Mknod(at("socket"), unix.S_IFSOCK|0o600, 0),
	)
	if err != nil {
		t.Fatal(err)
	}
	dir := mustOpen(t, root)
	for _, name := range []string{"link", "dangling", "folder", "fifo", "socket"} {
		if _, err := dir.Lock(t.Context(), durable.LockConfig{Name: name}); !errors.Is(err, durable.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Lstat(at("nowhere")); err == nil {
		t.Error("the dangling link's target was made")
	}
	if _, err := dir.Lock(t.Context(), durable.LockConfig{Name: "../x"}); !errors.Is(err, durable.ErrBadName) {
		t.Errorf("bad name: %v", err)
	}
}

// The file goes, or another comes, between open and flock: the lock ends on the file
// that is there.
func TestLockFollowsAReplacedFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gone", "replaced"} {
		root := t.TempDir()
		path := filepath.Join(root, "session.lock")
		times := 0
		dir := mustOpenHooked(t, root, func(label string, _ durable.Op) error {
			if times++; label != durable.LabelLockTake || times > 4 {
				return nil
			}
			if name == "gone" {
				return os.Rename(path, path+".old")
			}
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		})
		release, err := dir.Lock(t.Context(), sessionLock)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".old"); err != nil {
			t.Fatalf("%s: nothing happened: %v", name, err)
		}
		if _, err := mustOpen(t, root).Lock(t.Context(), sessionLock); !errors.Is(err, durable.ErrLocked) {
			t.Errorf("%s: the present file is not locked: %v", name, err)
		}
		_ = release()
	}
}

// A file that is replaced at each try is never taken for a lock.
func TestLockGivesUpOnAFileThatNeverStays(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "session.lock")
	dir := mustOpenHooked(t, root, func(label string, _ durable.Op) error {
		if label == durable.LabelLockTake {
			return os.Remove(path)
		}
		return nil
	})
	if _, err := dir.Lock(t.Context(), sessionLock); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("%v", err)
	}
}

func TestLockErrorsOfTheKernel(t *testing.T) {
	t.Parallel()
	for errno, want := range map[unix.Errno]error{
		unix.ENOLCK:     durable.ErrLockUnsupported,
		unix.EOPNOTSUPP: durable.ErrLockUnsupported,
		unix.ENOSYS:     durable.ErrLockUnsupported,
		unix.EBADF:      durable.ErrLockUnsupported,
		unix.EIO:        unix.EIO,
	} {
		dir := mustOpenHooked(t, t.TempDir(), func(label string, _ durable.Op) error {
			if label == durable.LabelLockTake {
				return errno
			}
			return nil
		})
		if _, err := dir.Lock(t.Context(), sessionLock); !errors.Is(err, want) || errors.Is(err, durable.ErrLocked) {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

// BR-029: what stands in the file, a living process' number for instance, means nothing.
func TestLeftoverLockFileDoesNotCount(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "session.lock"), []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		t.Fatal(err)
	}
	release, err := mustOpen(t, root).Lock(t.Context(), sessionLock)
	if err != nil {
		t.Fatal(err)
	}
	_ = release()
}

// BR-030: the holder dies; its lock is free at once although its child lives on, and the
// child has no descriptor of it.
func TestKilledHolderFreesTheLockDespiteItsChildren(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	holder := childCommand(t, "hold", root)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, perr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || perr != nil {
		t.Fatalf("holder says %q: %v", line, err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })

	dir := mustOpen(t, root)
	_, err = dir.Lock(t.Context(), sessionLock)
	if locked, ok := errors.AsType[*durable.LockedError](err); !ok || locked.Holder.PID != holder.Process.Pid {
		t.Errorf("while it lives: %v; the holder is %d", err, holder.Process.Pid)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Wait(); !killed(err) {
		t.Fatalf("the holder was not killed: %v", err)
	}
	release, err := dir.Lock(t.Context(), sessionLock)
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	_ = release()
	if err := unix.Kill(pid, 0); err != nil {
		t.Fatalf("the child of the holder should live: %v", err)
	}
	checkNoDescriptorBelow(t, pid, root)
}

func checkNoDescriptorBelow(t *testing.T, pid int, root string) {
	t.Helper()
	fds := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(fds)
	if err != nil || len(entries) == 0 {
		t.Fatalf("descriptors of the child: %v, %v", entries, err)
	}
	for _, e := range entries {
		target, _ := os.Readlink(filepath.Join(fds, e.Name()))
		if strings.HasPrefix(target, root) {
			t.Errorf("the child has %s", target)
		}
	}
}

// childHold takes the lock, starts a child that outlives it, tells its number and waits
// for the end of its input.
func childHold(args []string) error {
	dir, err := durable.OpenDir(args[0])
	if err != nil {
		return err
	}
	if _, err := dir.Lock(context.Background(), sessionLock); err != nil {
		return err
	}
	sleeper := exec.Command("sleep", "300")
	if err := sleeper.Start(); err != nil {
		return err
	}
	fmt.Println(sleeper.Process.Pid)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
