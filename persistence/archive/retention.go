package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"simplex/state"
)

// Cleaned is what a cleanup removed.
type Cleaned struct {
	Archives uint64
	Bytes    uint64 // of the files inside
}

var (
	// ErrCurrentMissing: the archive just written is not there any more, or is no
	// archive any more. Nothing was removed.
	ErrCurrentMissing = errors.New("the current archive is missing")
	// ErrChanged: an archive changed while it was about to be removed; it was left.
	ErrChanged = errors.New("the archive changed meanwhile")
)

// Clean removes the oldest archives until at most Config.Keep are left (§4.6). Protected
// are the current one and those that the states refer to: they count, and stay even where
// they are more. Config.Keep 0 removes nothing. An archive that cannot be removed does not
// stop the others; what was removed is told with the error, too.
func (m *Memory) Clean(current string, referring ...*state.State) (Cleaned, error) {
	if m.keep == 0 {
		return Cleaned{}, nil
	}
	memory, err := openAt(unix.AT_FDCWD, m.dir, 0)
	if err != nil {
		return Cleaned{}, fmt.Errorf("clean archives in %s: %w", m.dir, err)
	}
	defer unix.Close(memory)
	names, failed, err := m.candidates(memory)
	if err != nil {
		return Cleaned{}, fmt.Errorf("clean archives in %s: %w", m.dir, err)
	}
	if !slices.Contains(names, current) {
		return Cleaned{}, fmt.Errorf("clean archives in %s: %w: %s", m.dir, ErrCurrentMissing, current)
	}
	protected := References(m.dir, referring...)
	protected[current] = true
	var done Cleaned
	for _, name := range surplus(names, protected, m.keep) {
		size, err := remove(memory, name)
		if err != nil {
			failed = append(failed, fmt.Errorf("remove archive %s: %w", filepath.Join(m.dir, name), err))
			continue
		}
		done.Archives++
		done.Bytes += size
	}
	return done, errors.Join(failed...)
}

// candidates lists the archives, newest first, and why some could not be looked at.
func (m *Memory) candidates(memory int) (names []string, failed []error, err error) {
	entries, err := entriesOf(memory, m.dir, -1)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range entries {
		if !Recognised(name) {
			continue
		}
		fd, _, err := open(memory, name)
		switch {
		case err == nil:
			unix.Close(fd)
			names = append(names, name)
		case !errors.Is(err, ErrChanged) && !errors.Is(err, fs.ErrNotExist):
			failed = append(failed, fmt.Errorf("look at archive %s: %w", filepath.Join(m.dir, name), err))
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, failed, nil
}

// surplus picks what has to go from the names, newest first.
func surplus(names []string, protected map[string]bool, keep int) []string {
	kept := 0
	for _, name := range names {
		if protected[name] {
			kept++
		}
	}
	var out []string
	for _, name := range names {
		switch {
		case protected[name]:
		case kept < keep:
			kept++
		default:
			out = append(out, name)
		}
	}
	return out
}

// open opens a directory that is an archive: no link, with one regular state.md and
// nothing else in it. Anything else is ErrChanged.
func open(memory int, name string) (fd int, size uint64, err error) {
	fd, err = openAt(memory, name, unix.O_NOFOLLOW)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return -1, 0, ErrChanged
	}
	if err != nil {
		return -1, 0, err
	}
	size, err = inspect(fd, name)
	if err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, size, nil
}

func inspect(fd int, name string) (size uint64, err error) {
	names, err := entriesOf(fd, name, 2)
	if err != nil {
		return 0, err
	}
	if len(names) != 1 || names[0] != FileName {
		return 0, ErrChanged
	}
	var st unix.Stat_t
	err = again(func() error { return unix.Fstatat(fd, FileName, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, ErrChanged
	}
	return uint64(st.Size), nil
}

// entriesOf lists up to most names of a directory (all for -1) through a descriptor of its
// own, so that each listing starts at the first one.
func entriesOf(fd int, name string, most int) ([]string, error) {
	own, err := openAt(fd, ".", 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(own), name)
	defer f.Close()
	names, err := f.Readdirnames(most)
	if errors.Is(err, io.EOF) { // an empty directory, where a number was asked for
		err = nil
	}
	return names, err
}

// remove takes one archive away: its file, then the empty directory. Everything is looked
// at once more, by descriptor, right before.
func remove(memory int, name string) (size uint64, err error) {
	fd, size, err := open(memory, name)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if err := again(func() error { return unix.Unlinkat(fd, FileName, 0) }); err != nil {
		return 0, err
	}
	if err := again(func() error { return unix.Unlinkat(memory, name, unix.AT_REMOVEDIR) }); err != nil {
		return 0, err
	}
	return size, nil
}
