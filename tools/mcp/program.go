package mcp

import (
	"os"
	"time"

	"simplex/internal/program"
)

// Times of a program's life that nobody needs to configure.
const (
	inputGrace = 500 * time.Millisecond // from the end of input to TERM
	writeTime  = 10 * time.Second       // for the program to take a message
)

// startProgram starts the server, confined where there is a sandbox.
func startProgram(cfg Config) (*program.Child, error) {
	path, err := program.LookPath(cfg.Command, cfg.Environment)
	if err != nil {
		return nil, err
	}
	return program.Start(program.Config{
		Path: path, Args: append([]string{cfg.Command}, cfg.Args...),
		Environment: cfg.Environment, WorkingDirectory: cfg.WorkingDirectory,
		Start: cfg.Sandbox.Start, InputGrace: inputGrace,
		Speaker: "server", Logger: cfg.Logger,
	})
}

// timedWriter fails where the program takes nothing for a while, and so bounds a
// call that could not even be sent.
type timedWriter struct{ *os.File }

func (w timedWriter) Write(p []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return 0, err
	}
	return w.File.Write(p)
}
