package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The Landlock versions that matter: before the first, a file outside can be
// truncated and so the promise of a Box cannot be kept; from the second on,
// control of devices can be refused, too.
const (
	versionTruncate = 3 // Linux 6.2
	versionIoctl    = 5 // Linux 6.10
)

// What changes files. Making device nodes is handled and granted nowhere: a node
// in the workspace would lead around every rule.
const (
	below = ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo |
		ll.AccessFSMakeSym | ll.AccessFSRefer
	nodes = ll.AccessFSMakeChar | ll.AccessFSMakeBlock
)

// Available tells whether this kernel can keep what a Box promises. The
// error wraps ErrUnavailable and says what is missing.
func Available() error {
	_, err := landlockVersion()
	return err
}

func landlockVersion() (int, error) {
	version, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return 0, fmt.Errorf("%w: the kernel has no Landlock: %w", ErrUnavailable, err)
	case errors.Is(err, unix.EOPNOTSUPP):
		return 0, fmt.Errorf("%w: Landlock is not among the kernel's active security modules (lsm= at boot): %w", ErrUnavailable, err)
	case err != nil:
		return 0, fmt.Errorf("%w: Landlock cannot be used here: %w", ErrUnavailable, err)
	case version < versionTruncate:
		return 0, fmt.Errorf("%w: the kernel has Landlock version %d, which lets files outside be truncated; version %d (Linux 6.2) is needed", ErrUnavailable, version, versionTruncate)
	}
	return version, nil
}

// rules makes the rule set of one child.
func (s *Box) rules(terminals []string) (*os.File, error) {
	version, err := landlockVersion()
	if err != nil {
		return nil, err
	}
	device := landlock.AccessFSSet(ll.AccessFSWriteFile | ll.AccessFSTruncate)
	handled := landlock.AccessFSSet(below | nodes)
	if version >= versionIoctl {
		device |= ll.AccessFSIoctlDev
		handled |= ll.AccessFSIoctlDev
	}
	rules := []landlock.Rule{
		landlock.PathAccess(below, s.Workspace, s.Temp),
		landlock.PathAccess(device, "/dev/null", "/dev/zero", "/dev/full").IgnoreIfMissing(),
	}
	if len(terminals) > 0 {
		rules = append(rules, landlock.PathAccess(device, append(terminals, "/dev/tty")...).IgnoreIfMissing())
	}
	fd, _, err := landlock.Config{HandledAccessFS: handled}.NewRulesetFD(rules...)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return os.NewFile(uintptr(fd), "landlock rules"), nil
}

// restrictThread binds the calling thread to the rules, for good.
func restrictThread(rules int) error { return ll.LandlockRestrictSelf(rules, 0) }
