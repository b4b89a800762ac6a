package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"

	"simplex/process/execve"
)

// ErrUnavailable: this kernel cannot confine children. The text around it says why.
var ErrUnavailable = errors.New("file system sandbox unavailable")

// Box confines children, and everything they start, by Landlock: they may
// create, change, rename, link, truncate and remove files only below the two
// directories, and write to /dev/null, /dev/zero, /dev/full and, with a
// terminal, to that. Reading, running programs, the network, signals and
// what Landlock does not know (modes, owners, time stamps, extended attributes)
// stay as they are. New device nodes are refused everywhere. A confined child
// cannot gain privileges by set-user-id programs.
//
// Each child is started through this program's own executable, which must
// call ConfineMain first thing in main. A child that cannot be confined is not
// run.
type Box struct {
	// Workspace is an absolute directory that must exist.
	Workspace string
	// Temp is another one; children get it as TMPDIR unless their launch sets
	// that itself. It should be private to the worker.
	Temp string
}

// Check is Available and a look at the directories, for start-up.
func (s *Box) Check() error {
	if err := Available(); err != nil {
		return err
	}
	for _, dir := range s.directories() {
		if !filepath.IsAbs(dir.path) {
			return fmt.Errorf("sandbox: %s %q: %w: want an absolute path", dir.what, dir.path, fs.ErrInvalid)
		}
		if err := execve.CheckDirectory(dir.path); err != nil {
			return fmt.Errorf("sandbox: %s: %w", dir.what, err)
		}
	}
	return nil
}

type directory struct{ what, path string }

func (s *Box) directories() []directory {
	return []directory{{"workspace", s.Workspace}, {"temporary directory", s.Temp}}
}

// Environment adds TMPDIR to env, unless own, what the launch asked for, has one itself.
func (s *Box) Environment(env, own []string) []string {
	if _, set := execve.LookupEnvironment(own, "TMPDIR"); set {
		return env
	}
	merged, err := execve.MergeEnvironment(env, []string{"TMPDIR=" + s.Temp})
	if err != nil {
		return env
	}
	return merged
}

// Start is cmd.Start for a command that is to run confined. It keeps Dir,
// SysProcAttr and the streams of cmd and replaces Path, Args, Env and ExtraFiles;
// the last must be empty. TMPDIR is that of the Box in any case. A nil Box
// starts cmd as it is.
func (s *Box) Start(cmd *exec.Cmd) error {
	if s == nil || cmd.Err != nil {
		return cmd.Start()
	}
	if len(cmd.ExtraFiles) > 0 {
		return fmt.Errorf("sandbox: extra descriptors: %w", errors.ErrUnsupported)
	}
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return err
	}
	const firstExtra = 3
	c, err := s.Confine(Target{Path: path, Argv: cmd.Args, Env: s.Environment(cmd.Environ(), nil)}, firstExtra)
	if err != nil {
		return err
	}
	defer c.Close()
	cmd.ExtraFiles = c.Files()
	cmd.Path, cmd.Args, cmd.Env = Executable, c.Arguments(), []string{}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := c.Outcome(); err != nil {
		_ = cmd.Wait()
		return &fs.PathError{Op: "execute", Path: path, Err: err}
	}
	return nil
}
