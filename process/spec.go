package process

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// MaxArgument is the longest string the kernel takes as one argument or one
// environment entry, in bytes (MAX_ARG_STRLEN less the final NUL).
const MaxArgument = 131071

// Input selects what a child reads on descriptor 0.
type Input int

const (
	// InputNull is /dev/null: end of file at once.
	InputNull Input = iota
	// InputPipe is a pipe that stays open until CloseInput, exit or release.
	InputPipe
)

// LaunchSpec says what to run (tools.md §4.1). The zero value of every field
// but Executable is usable.
type LaunchSpec struct {
	Executable  string   // bare name (PATH) or path
	Arguments   []string // argv after argv[0]
	Description string   // label, not interpreted

	WorkingDirectory   string   // "" = the host's
	Environment        []string // KEY=VALUE; a later entry wins
	InheritEnvironment bool     // put the host's environment before Environment

	Input Input // ignored with TTY
	// TTY gives the child a terminal as descriptors 0–2 and makes it the leader
	// of a session of its own (tools.md §4.9).
	TTY bool
	// Script, if not empty, is offered to the child as descriptor 3: an
	// anonymous file without the length limit of an argument.
	Script string

	// MaxOutputBytes overrides the store's capture budget; 0 = unlimited.
	MaxOutputBytes *uint64
}

// ShellSpec is the launch of one command line by the platform's shell, with the
// host's environment: /bin/bash if it is a regular file, else /usr/bin/bash,
// else /bin/sh, whatever PATH and SHELL say. A line too long for an argument
// goes through a descriptor (tools.md §8.18); the shell then sources it, so
// that $0, options and line numbers are those of -c.
func ShellSpec(line string) LaunchSpec {
	spec := LaunchSpec{
		Executable:         Shell(),
		Arguments:          []string{"-c", line},
		Description:        line,
		InheritEnvironment: true,
	}
	if len(line) > MaxArgument {
		spec.Arguments = []string{"-c", ". /dev/fd/3"}
		// The shell has opened the file itself by the time it runs the first
		// command; what the line starts must not inherit descriptor 3.
		spec.Script = "exec 3<&-; " + line
	}
	return spec
}

// Shell is the absolute path of the shell that ShellSpec uses.
func Shell() string {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return "/bin/sh"
}

// checkStrings refuses what execve would answer with a bare E2BIG or EINVAL.
func checkStrings(argv, env []string, script string) error {
	for i, arg := range argv {
		if err := checkString(fmt.Sprintf("argument %d", i), arg); err != nil {
			return err
		}
	}
	for _, entry := range env {
		key, _, _ := strings.Cut(entry, "=")
		if len(entry) > MaxArgument {
			return &SizeError{What: fmt.Sprintf("environment entry %.64q", key), Size: len(entry), Limit: MaxArgument}
		}
	}
	if strings.IndexByte(script, 0) >= 0 {
		return fmt.Errorf("script has a NUL byte: %w", fs.ErrInvalid)
	}
	return nil
}

func checkString(what, s string) error {
	if len(s) > MaxArgument {
		return &SizeError{What: what, Size: len(s), Limit: MaxArgument}
	}
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%s has a NUL byte: %w", what, fs.ErrInvalid)
	}
	return nil
}

// clone detaches the spec from the caller's slices.
func (s LaunchSpec) clone() LaunchSpec {
	s.Arguments = append([]string(nil), s.Arguments...)
	s.Environment = append([]string(nil), s.Environment...)
	return s
}
