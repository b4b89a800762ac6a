package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// resolveExecutable finds the file to run, as an absolute path (tools.md §4.3).
// A name with a directory part is that very path; a bare name is looked up in
// searchPath alone. Empty elements of searchPath are skipped: the current
// directory is used only where it is written out. A file that is there but
// cannot be executed is a spawn failure.
func resolveExecutable(name, searchPath string) (string, error) {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return "", &Error{Stage: StageResolve, Subject: name, Err: fs.ErrInvalid}
	}
	if strings.Contains(name, "/") {
		return resolvePath(name)
	}
	var denied error
	for _, dir := range filepath.SplitList(searchPath) {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); err != nil {
			denied = &fs.PathError{Op: "execute", Path: path, Err: err}
			continue
		}
		return absolute(name, path)
	}
	if denied != nil {
		return "", &Error{Stage: StageSpawn, Subject: name, Err: denied}
	}
	return "", &Error{Stage: StageResolve, Subject: name, Err: fmt.Errorf("%w in PATH", ErrNotFound)}
}

func resolvePath(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return "", &Error{Stage: StageResolve, Subject: name, Err: ErrNotFound}
	case err != nil:
		return "", &Error{Stage: StageSpawn, Subject: name, Err: err}
	case info.IsDir():
		return "", &Error{Stage: StageSpawn, Subject: name, Err: unix.EISDIR}
	}
	return absolute(name, name)
}

// absolute pins path to the host's directory before the child changes its own.
func absolute(name, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &Error{Stage: StageResolve, Subject: name, Err: err}
	}
	return abs, nil
}
