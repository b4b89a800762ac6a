package hubcall

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"simplex/intercom"
	"simplex/state"
	"simplex/tools"
	"simplex/wire"
)

// builtin is schema/*.yaml as tools.Bundle renders it.
//
//go:embed schema/bundle.json
var builtin []byte

// IDs say who calls. The Hub refuses what is not its session's current run.
type IDs struct{ WorkerID, SessionID, RunID string }

// Exchange sends one request and gives its reply; intercom.Exchange is one.
type Exchange func(ctx context.Context, cfg intercom.ExchangeConfig, request []byte) ([]byte, error)

// Config of a Set. Endpoint and IDs are required.
type Config struct {
	// Endpoint is a ws or wss URL; the route of a call is appended to its path. It may
	// hold a token: it is never shown.
	Endpoint string
	// Timeout is for one whole call, from 1 ms to 2147483647 ms; 0 is 120 s.
	Timeout time.Duration
	// IDs is asked at each call, on its goroutine, by several at once. A blank id makes
	// the call fail.
	IDs func() IDs
	// NewRequestID makes a fresh UUID; nil is a random one.
	NewRequestID func() string
	// Exchange is intercom.Exchange when nil.
	Exchange Exchange
	// SchemaDir, if not empty, is where the declarations are read, instead of all
	// places of tools.Source.
	SchemaDir string
	// DecodeYAML reads a declaration from a directory; nil refuses directories.
	DecodeYAML func(name string, raw []byte) (state.Value, error)
	// Logger may be nil.
	Logger *slog.Logger
}

// Set is the toolset. Its tools may be called from several goroutines at once.
type Set struct {
	caller caller
	tools  []tools.Tool
	skill  *tools.Skill
}

// New builds the set and checks the configuration; no connection is opened. Tools whose
// declaration is unusable are logged and left out.
func New(cfg Config) (*Set, error) {
	endpoint, err := wire.ParseURL(cfg.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("hub_remote_call endpoint: %w", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = wire.DefaultTimeoutMS * time.Millisecond
	}
	if cfg.Timeout < time.Millisecond || cfg.Timeout > wire.MaxConfigInteger*time.Millisecond {
		return nil, fmt.Errorf("hub_remote_call timeout: must be from 1 to %d ms", wire.MaxConfigInteger)
	}
	if cfg.IDs == nil {
		return nil, errors.New("hub_remote_call: the ids of the worker are required")
	}
	if cfg.Exchange == nil {
		cfg.Exchange = intercom.Exchange
	}
	if cfg.NewRequestID == nil {
		cfg.NewRequestID = uuid.NewString
	}
	s := &Set{caller: caller{
		endpoint: endpoint, timeout: cfg.Timeout, ids: cfg.IDs,
		newID: cfg.NewRequestID, exchange: cfg.Exchange,
	}}
	source := tools.Source{
		Set: s.Name(), Dir: cfg.SchemaDir, Builtin: builtin,
		DecodeYAML: cfg.DecodeYAML, Logger: cfg.Logger,
	}
	s.tools, s.skill = source.Build(s.makers())
	return s, nil
}

func (s *Set) makers() []tools.Maker {
	var out []tools.Maker
	add := func(name string, prepare func(*tools.Arguments) (tools.Plan, error)) {
		out = append(out, tools.Maker{Name: name, Make: func(d tools.Declaration) (tools.Tool, error) {
			if err := d.RefuseConfig(); err != nil {
				return nil, err
			}
			return &tool{decl: d, prepare: prepare}, nil
		}})
	}
	add("plan", s.plan)
	add("subagent_fork", s.fork)
	add("subagent_send", s.send)
	add("subagent_receive", s.receive)
	return out
}

// Name is "hub_remote_call".
func (s *Set) Name() string { return "hub_remote_call" }

// Tools lists what could be built, in catalogue order.
func (s *Set) Tools() []tools.Tool { return s.tools }

// Skill is the text on plans and subagents.
func (s *Set) Skill() *tools.Skill { return s.skill }

// Groups says that the plan stands alone and the other three belong together.
func (s *Set) Groups() []tools.Group {
	return []tools.Group{
		{Name: "plan", Tools: []string{"plan"}},
		{Name: "subagents", Tools: []string{"subagent_fork", "subagent_send", "subagent_receive"}},
	}
}

// Shutdown has nothing to release.
func (s *Set) Shutdown(context.Context) error { return nil }

// tool is one of the four.
type tool struct {
	decl    tools.Declaration
	prepare func(*tools.Arguments) (tools.Plan, error)
}

func (t *tool) Declaration() tools.Declaration                 { return t.decl }
func (t *tool) Prepare(a *tools.Arguments) (tools.Plan, error) { return t.prepare(a) }
