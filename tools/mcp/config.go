package mcp

import (
	"log/slog"
	"time"

	"simplex/process/sandbox"
	"simplex/state"
)

// Defaults of a Config.
const (
	DefaultStartTimeout   = 30 * time.Second
	DefaultCallTimeout    = 2 * time.Minute
	DefaultGrace          = 5 * time.Second
	DefaultBackoff        = 500 * time.Millisecond
	DefaultMaxResultBytes = 64 << 10
	DefaultMaxMessage     = 16 << 20
)

// maxBackoff bounds the pause before a restart.
const maxBackoff = 30 * time.Second

// Config of a Set.
type Config struct {
	// Name of the toolset; required.
	Name string
	// Command is a path or a bare name for PATH of Environment; required.
	Command string
	Args    []string
	// Environment is all the server gets, as KEY=VALUE; nil is nothing.
	Environment      []string
	WorkingDirectory string // "" is the worker's
	// Sandbox confines the server as it does other children; nil does not.
	Sandbox *sandbox.Box

	// Prefix is put before the server's names of the tools.
	Prefix string
	// Rule says how a tool, by the server's name, is treated; nil is the default for
	// all: offered, serial_write, require_confirm.
	Rule func(tool string) Rule
	// Expected are tools that the configuration speaks of, by the server's names. Those
	// that the server does not have are logged.
	Expected []string

	StartTimeout   time.Duration // from the start to the list of tools; 0 is DefaultStartTimeout
	CallTimeout    time.Duration // of one call; 0 is DefaultCallTimeout
	Grace          time.Duration // between TERM and KILL; 0 is DefaultGrace
	Backoff        time.Duration // before the first restart, doubled for each further one; 0 is DefaultBackoff
	MaxRestarts    int           // in the life of the set; 0 is none
	MaxResultBytes int           // of a result's text, and again of its other content; 0 is DefaultMaxResultBytes
	// MaxMessageBytes bounds one message of the server; a larger one ends this life of
	// it. 0 is DefaultMaxMessage.
	MaxMessageBytes int

	Version string       // of this program, told to the server
	Logger  *slog.Logger // nil discards
}

// Rule is how one tool is treated.
type Rule struct {
	Type     state.InvokeType     // empty is serial_write
	Security state.InvokeSecurity // empty is require_confirm
	Hide     bool                 // not offered
}

func (c Config) complete() Config {
	setDuration(&c.StartTimeout, DefaultStartTimeout)
	setDuration(&c.CallTimeout, DefaultCallTimeout)
	setDuration(&c.Grace, DefaultGrace)
	setDuration(&c.Backoff, DefaultBackoff)
	if c.MaxResultBytes == 0 {
		c.MaxResultBytes = DefaultMaxResultBytes
	}
	if c.MaxMessageBytes == 0 {
		c.MaxMessageBytes = DefaultMaxMessage
	}
	if c.Rule == nil {
		c.Rule = func(string) Rule { return Rule{} }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("toolset", c.Name)
	return c
}

func setDuration(d *time.Duration, fallback time.Duration) {
	if *d == 0 {
		*d = fallback
	}
}
