package sandbox

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// What the first byte of bad news says; an errno of four bytes follows.
const (
	newsConfine byte = 'c'
	newsExec    byte = 'x'
)

// exitNotRun is the exit code of a start that did not become its target. Nobody
// sees it but who reaps: the news came first.
const exitNotRun = 127

// ConfineMain turns this process into a confined child if args, which are
// os.Args, say so, and does not return then. Otherwise it returns at once. A
// program whose stores or commands have a Box must call it before anything
// else in main.
func ConfineMain(args []string) {
	if len(args) != 3 || args[1] != confineCommand {
		return
	}
	first, err := strconv.Atoi(args[2])
	if err != nil || first < 3 {
		os.Exit(exitNotRun)
	}
	runtime.LockOSThread() // the rules bind this thread, and exec keeps it
	status := first + 2
	stage, err := confineSelf(first, first+1, status)
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		errno = unix.EINVAL
	}
	news := binary.LittleEndian.AppendUint32([]byte{stage}, uint32(errno))
	_, _ = unix.Write(status, news)
	os.Exit(exitNotRun)
}

// confineSelf returns only with an error.
func confineSelf(rules, text, status int) (stage byte, err error) {
	for _, fd := range []int{rules, text, status} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return newsConfine, err
		}
	}
	raw, err := io.ReadAll(os.NewFile(uintptr(text), "target"))
	if err != nil {
		return newsConfine, err
	}
	t, err := decodeTarget(string(raw))
	if err != nil {
		return newsConfine, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return newsConfine, err
	}
	if err := restrictThread(rules); err != nil {
		return newsConfine, err
	}
	return newsExec, syscall.Exec(t.Path, t.Argv, t.Env)
}
