package execve

import (
	"os"

	"golang.org/x/sys/unix"
)

// CheckDirectory refuses what a child could not change into. "" is fine: the host's own.
func CheckDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "chdir", Path: dir, Err: unix.ENOTDIR}
	}
	return nil
}
