package process

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	proc "simplex/process"
	"simplex/tools"
)

// launchFailure words why nothing was started: the step, the program, its label,
// and apart from them what the operating system said.
func launchFailure(err error, description string) error {
	if errors.Is(err, proc.ErrTableFull) {
		return &tools.Failure{Message: err.Error() + ". Release exited ones with poll_process and release_exited: true " +
			"(or read_process and release: true); running ones must be ended with send_process first"}
	}
	pe, ok := errors.AsType[*proc.Error](err)
	if !ok {
		return err
	}
	message := fmt.Sprintf("%s %q", pe.Stage, pe.Subject)
	if description != "" {
		message += fmt.Sprintf(" (description %q)", brief(description))
	}
	errno, ok := errors.AsType[syscall.Errno](pe.Err)
	if !ok {
		return &tools.Failure{Message: message + ": " + pe.Err.Error()}
	}
	if path, ok := errors.AsType[*fs.PathError](pe.Err); ok {
		message += fmt.Sprintf(": %s %s", path.Op, path.Path)
	}
	return &tools.Failure{Message: message, Cause: errno}
}

// sessionFailure words why something could not be done to a session.
func sessionFailure(id, what string, err error) error {
	switch {
	case errors.Is(err, proc.ErrNoSession):
		return &tools.Failure{Message: "no session " + id + ": it is unknown or was released; poll_process without session_ids lists those there are"}
	case errors.Is(err, proc.ErrNoInput):
		return &tools.Failure{Message: what + ": session " + id + " has no input; a command that reads needs interactive: true in run_command"}
	case errors.Is(err, proc.ErrInputClosed):
		return &tools.Failure{Message: what + ": the input of session " + id + " is closed: by close_input, or by the program"}
	case errors.Is(err, proc.ErrInputFull):
		return &tools.Failure{Message: what + ": the input queue of session " + id + " is full; let the program read first"}
	default:
		return &tools.Failure{Message: what + " session " + id, Cause: err}
	}
}
