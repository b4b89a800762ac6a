package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// descriptors lists what this process has open.
const descriptors = "/proc/self/fd"

// Opened is for files that a library opened by their path: every file of one of the names
// that this process has open must be the one of that name in d, and the first name must be
// among them. Otherwise the path led elsewhere: ErrMoved. A process that has files of these
// names open in several directories cannot use it.
func (d *Dir) Opened(names ...string) error {
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(descriptors, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // what read the list
		}
		if err != nil {
			return err
		}
		name := filepath.Base(strings.TrimSuffix(target, " (deleted)"))
		if !slices.Contains(names, name) {
			continue
		}
		if err := d.isOpened(e.Name(), name); err != nil {
			return err
		}
		found = found || name == names[0]
	}
	if !found {
		return d.fail("look for", names[0], ErrMoved)
	}
	return nil
}

func (d *Dir) isOpened(descriptor, name string) error {
	fd, err := strconv.Atoi(descriptor)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", descriptors, descriptor, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return d.fail("look at", name, err)
	}
	info, err := d.Look(name)
	if err == nil && (info.Dev != st.Dev || info.Ino != st.Ino) || errors.Is(err, fs.ErrNotExist) {
		return d.fail("look at", name, ErrMoved)
	}
	return err
}
