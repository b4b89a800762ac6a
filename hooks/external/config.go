package external

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"simplex/hooks"
	"simplex/state"
)

// Defaults of a Config.
const (
	DefaultDeadline       = 5 * time.Second
	DefaultGrace          = 5 * time.Second
	DefaultMaxAnswerBytes = 16 << 20
)

// ErrEvent: a hook wants to hear an event that there is not.
var ErrEvent = errors.New("there is no such event")

// Config of a Hook.
type Config struct {
	Name    string // required
	Command string // a path, or a bare name for PATH of Environment; required
	Args    []string
	// Environment is all the program gets, as KEY=VALUE; nil is nothing.
	Environment      []string
	WorkingDirectory string       // "" is the worker's
	Settings         state.Object // sent to the program; unset is {}

	Events []hooks.Name // those that are sent; at least one
	// FailOpen lets a run go on without the hook where the program fails; the failure
	// is logged as an error. Otherwise it is the handler's error, and so the run's.
	FailOpen bool

	Deadline       time.Duration // for one event; 0 is DefaultDeadline
	Grace          time.Duration // between TERM and KILL; 0 is DefaultGrace
	MaxRestarts    int           // in the life of the hook; 0 is none
	MaxAnswerBytes int           // of one line; 0 is DefaultMaxAnswerBytes
	Logger         *slog.Logger  // nil discards
}

func (c Config) complete() (Config, error) {
	if c.Name == "" || c.Command == "" || len(c.Events) == 0 {
		return c, errors.New("external hook: a name, a command and events are required")
	}
	for _, name := range c.Events {
		if !slices.Contains(hooks.Names(), name) {
			return c, fmt.Errorf("external hook %s: %w: %q", c.Name, ErrEvent, name)
		}
	}
	if c.Deadline == 0 {
		c.Deadline = DefaultDeadline
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.MaxAnswerBytes == 0 {
		c.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	if !c.Settings.IsSet() {
		c.Settings = state.EmptyObject()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("hook", c.Name)
	return c, nil
}
