package editing

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"simplex/tools/reading/regular"
)

// Temporary files stand beside the file they will replace.
const (
	tempPrefix  = ".simplex-edit-"
	tempRandom  = 6
	tempTries   = 100
	tempLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

// stepError says which step of the publication the system refused.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(name string, err error) error {
	if err == nil || errors.Is(err, errConflict) {
		return err
	}
	return &stepError{name, err}
}

// replace publishes after in the place of before. An error means that nothing was
// published. unsynced is set where the rename was made and only the directory's fsync
// failed.
func (t *target) replace(before, after []byte) (unsynced, err error) {
	if err := t.at(PointWrite); err != nil {
		return nil, err
	}
	if err := t.same(); err != nil {
		return nil, err
	}
	temp, name, err := t.makeTemp()
	if err != nil {
		return nil, step("make a temporary file beside it", err)
	}
	published := false
	defer func() {
		if !published {
			_ = unix.Unlinkat(t.dir, name, 0)
		}
	}()
	if err := t.fill(temp, after); err != nil {
		return nil, err
	}
	if err := t.compare(before); err != nil {
		return nil, err
	}
	if err := t.rename(name); err != nil {
		return nil, err
	}
	published = true
	err = t.at(PointSyncDir)
	if err == nil {
		err = again(func() error { return unix.Fsync(t.dir) })
	}
	return err, nil
}

func (t *target) makeTemp() (fd int, name string, err error) {
	for range tempTries {
		b := []byte(tempPrefix)
		for range tempRandom {
			b = append(b, tempLetters[rand.IntN(len(tempLetters))])
		}
		fd, err = openat(t.dir, string(b), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if !errors.Is(err, unix.EEXIST) {
			return fd, string(b), err
		}
	}
	return -1, "", fmt.Errorf("no free name: %w", err)
}

// fill writes the temporary file, gives it owner and mode, brings it to disk and
// closes it.
func (t *target) fill(fd int, content []byte) (err error) {
	defer func() {
		if closed := unix.Close(fd); err == nil && !errors.Is(closed, unix.EINTR) {
			err = step("close the new content", closed)
		}
	}()
	for rest := content; len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return step("write the new content", err)
		}
		rest = rest[n:]
	}
	st, err := fstat(fd)
	if err == nil && (st.Uid != t.id.uid || st.Gid != t.id.gid) {
		err = again(func() error { return unix.Fchown(fd, int(t.id.uid), int(t.id.gid)) })
	}
	if err != nil {
		return step("keep owner and group", err)
	}
	// After the change of owner, which may take mode bits away.
	if err := again(func() error { return unix.Fchmod(fd, t.id.mode&0o777) }); err != nil {
		return step("keep the mode", err)
	}
	err = t.at(PointSync)
	if err == nil {
		err = again(func() error { return unix.Fsync(fd) })
	}
	return step("bring the new content to disk", err)
}

// compare reads the file anew: a change within one tick of the clock that keeps the
// size shows in the bytes only.
func (t *target) compare(before []byte) error {
	if err := t.at(PointCompare); err != nil {
		return err
	}
	now, err := regular.ReadAll(t.file, t.id.size, maxFile)
	if errors.Is(err, regular.ErrTooLarge) || err == nil && !bytes.Equal(now, before) {
		return errConflict
	}
	if err != nil {
		return step("read it again", err)
	}
	return t.same()
}

func (t *target) rename(temp string) error {
	if err := t.at(PointRename); err != nil {
		return err
	}
	if err := t.named(); err != nil {
		return err
	}
	return step("put the new content in place", again(func() error {
		return unix.Renameat(t.dir, temp, t.dir, t.name)
	}))
}
