package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// TempPrefix starts the name of every temporary file; six letters or digits follow.
	TempPrefix = ".simplex-write-"

	tempRandom   = 6
	tempAttempts = 100
	tempLetters  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

// temp is a temporary file that is removed unless it is renamed away.
type temp struct {
	dir  *Dir
	fd   int // -1: closed
	kept int // a second descriptor, which close leaves open; -1: none
	name string
	gone bool // renamed
}

func (d *Dir) createTemp() (*temp, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	for range tempAttempts {
		name := tempName()
		fd, err := d.ops.openat(LabelCreate, d.fd, name, flags, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &temp{dir: d, fd: fd, kept: -1, name: name}, nil
	}
	return nil, fmt.Errorf("no free temporary name: %w", fs.ErrExist)
}

// tempName needs no secrecy: O_EXCL refuses whatever stands there already.
func tempName() string {
	b := []byte(TempPrefix)
	for range tempRandom {
		b = append(b, tempLetters[rand.IntN(len(tempLetters))])
	}
	return string(b)
}

// Write hands p to the file whole.
func (t *temp) Write(p []byte) (int, error) {
	if err := t.dir.ops.writeAll(t.fd, t.name, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *temp) close() error {
	fd := t.fd
	t.fd = -1
	return t.dir.ops.close(LabelClose, fd, t.name)
}

// keep makes the second descriptor. Where none is to be had, the file does without.
func (t *temp) keep() {
	if fd, err := unix.FcntlInt(uintptr(t.fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		t.kept = fd
	}
}

// release hands over the second descriptor.
func (t *temp) release() int {
	fd := t.kept
	t.kept = -1
	return fd
}

// discard runs after every publication; it acts only where the rename was not reached.
// What it cannot remove is left to the next RemoveStale: the failure that led here is
// the one worth reporting.
func (t *temp) discard() {
	if t.fd >= 0 {
		_ = unix.Close(t.fd)
		t.fd = -1
	}
	if t.kept >= 0 {
		_ = unix.Close(t.release())
	}
	if !t.gone {
		_ = t.dir.ops.unlinkat(LabelDiscard, t.dir.fd, t.name)
	}
}

// RemoveStale removes the temporary files that killed writers left in d. Only the
// holder of the lock that guards the directory may call it, before it publishes
// anything: it cannot tell a dead writer's file from a living one's.
func (d *Dir) RemoveStale() error {
	names, err := d.list()
	if err != nil {
		return fmt.Errorf("list %s: %w", d.path, err)
	}
	for _, name := range names {
		if !isTempName(name) {
			continue
		}
		st, err := d.ops.statat(LabelTempsList, d.fd, name)
		if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue // no writer of ours made that
		}
		if err == nil {
			err = d.ops.unlinkat(LabelTempsRemove, d.fd, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stale %s in %s: %w", name, d.path, err)
		}
	}
	return nil
}

// list reads the names through a descriptor of its own, so that the position of d's
// descriptor stays untouched.
func (d *Dir) list() ([]string, error) {
	fd, err := d.ops.openat(LabelTempsList, d.fd, ".", openDirFlags, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	return f.Readdirnames(-1)
}

func isTempName(name string) bool {
	random, ok := strings.CutPrefix(name, TempPrefix)
	return ok && len(random) == tempRandom && strings.Trim(random, tempLetters) == ""
}
