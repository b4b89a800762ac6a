package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"simplex/process/execve"
	"simplex/process/kin"
	"simplex/process/sandbox"
)

// launch is a checked LaunchSpec: what execve will get.
type launch struct {
	path   string
	argv   []string
	env    []string
	dir    string
	script string

	sandbox *sandbox.Box // nil: not confined
}

// prepareLaunch does all checks that need no child: environment, executable,
// directory, sizes.
func prepareLaunch(spec LaunchSpec, host []string) (launch, error) {
	hostPath, _ := execve.LookupEnvironment(host, "PATH")
	if !spec.InheritEnvironment {
		host = nil
	}
	env, err := execve.MergeEnvironment(host, spec.Environment)
	if err != nil {
		return launch{}, &Error{Stage: StageEnvironment, Subject: spec.Executable, Err: err}
	}
	path, ok := execve.LookupEnvironment(env, "PATH")
	if !ok {
		path = hostPath
	}
	l := launch{env: env, dir: spec.WorkingDirectory, script: spec.Script}
	if l.path, err = resolveExecutable(spec.Executable, path); err != nil {
		return launch{}, err
	}
	l.argv = append([]string{spec.Executable}, spec.Arguments...)
	err = checkStrings(l.argv, env, l.script)
	if err == nil {
		err = execve.CheckDirectory(l.dir)
	}
	if err != nil {
		return launch{}, &Error{Stage: StageSpawn, Subject: spec.Executable, Err: err}
	}
	return l, nil
}

// openEnvironment makes the pipes or the terminal of a launch.
func openEnvironment(spec LaunchSpec) (ioEnvironment, error) {
	if spec.TTY {
		return openTerminal()
	}
	return openPipes(spec.Input)
}

// start runs l with io as its descriptors 0–2. It returns after the child's
// exec has succeeded or failed.
func (l launch) start(io ioEnvironment) (*kin.Child, error) {
	files := io.childFiles()
	if l.script != "" {
		fd, err := execve.TextFile(l.script)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unix.Close(fd) }()
		files = append(files, uintptr(fd))
	}
	if l.sandbox != nil {
		return l.startConfined(io, files)
	}
	return l.exec(io, files)
}

// exec starts l as it is.
func (l launch) exec(io ioEnvironment, files []uintptr) (*kin.Child, error) {
	pidfd := -1
	attr := &syscall.SysProcAttr{PidFD: &pidfd}
	io.configure(attr)
	pid, _, err := syscall.StartProcess(l.path, l.argv, &syscall.ProcAttr{
		Dir: l.dir, Env: l.env, Files: files, Sys: attr,
	})
	if errors.Is(err, unix.E2BIG) {
		return nil, l.tooLarge()
	}
	if err != nil {
		return nil, err
	}
	return kin.NewChild(pid, pidfd), nil
}

// startConfined is exec by way of sandbox.ConfineMain.
func (l launch) startConfined(io ioEnvironment, files []uintptr) (*kin.Child, error) {
	var terminals []string
	if t, ok := io.(*terminal); ok {
		terminals = append(terminals, t.slave.Name())
	}
	c, err := l.sandbox.Confine(sandbox.Target{Path: l.path, Argv: l.argv, Env: l.env}, len(files), terminals...)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, f := range c.Files() {
		files = append(files, f.Fd())
	}
	by := launch{path: sandbox.Executable, argv: c.Arguments(), dir: l.dir}
	child, err := by.exec(io, files)
	if err != nil {
		return nil, err
	}
	err = c.Outcome()
	if err == nil {
		return child, nil
	}
	_, _ = child.Wait()
	child.Close()
	if errors.Is(err, unix.E2BIG) {
		return nil, l.tooLarge()
	}
	return nil, err
}

func (l launch) tooLarge() error {
	return &SizeError{What: "all arguments and environment together", Size: l.size(), Limit: l.limit()}
}

// size is what the kernel counts against its limit: strings, their NULs and pointers.
func (l launch) size() int {
	total := 0
	for _, list := range [][]string{l.argv, l.env} {
		for _, s := range list {
			total += len(s) + 1 + 8
		}
	}
	return total
}

// limit is a quarter of the stack limit, at most 6 MiB and at least 128 KiB.
func (l launch) limit() int {
	const low, high = 128 << 10, 6 << 20
	var stack unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &stack); err != nil {
		return low
	}
	return int(max(low, min(high, stack.Cur/4)))
}
