package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"simplex/tools"
	"simplex/tools/mcp/client"
)

// Set is the toolset of one server. Its tools may be called at once.
type Set struct {
	name   string
	server *server
	tools  []tools.Tool
}

// Start starts the server, asks it for its tools and gives them as a set. It returns
// within StartTimeout and the time it takes to end a server that failed. A tool with a
// name or schema that cannot be used is logged and left out; one with the name of a
// built-in tool is an error, ErrShadows. On failure nothing runs any more; otherwise
// the set must be shut down.
func Start(ctx context.Context, cfg Config) (*Set, error) {
	if cfg.Name == "" || cfg.Command == "" {
		return nil, errors.New("mcp toolset: a name and a command are required")
	}
	cfg = cfg.complete()
	c, err := connect(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("mcp toolset %s: %w", cfg.Name, err)
	}
	listing, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	offered, err := c.session.Tools(listing, maxTools)
	s := &Set{name: cfg.Name, server: newServer(cfg, c)}
	if err != nil {
		err = fmt.Errorf("list tools: %w", err)
	} else {
		err = s.build(offered)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mcp toolset %s: %w", cfg.Name, err), s.Shutdown(ctx))
	}
	return s, nil
}

func (s *Set) build(offered []client.Tool) error {
	cfg := s.server.cfg
	have := map[string]bool{}
	names := map[string]bool{}
	for _, t := range offered {
		have[t.Name] = true
		rule := cfg.Rule(t.Name)
		if rule.Hide {
			continue
		}
		decl, err := declare(cfg.Prefix, t)
		if err != nil {
			cfg.Logger.Error("a tool of the server is refused", "tool", fmt.Sprintf("%.100q", t.Name), "error", err)
			continue
		}
		if builtin(decl.Name) {
			return fmt.Errorf("tool %q: %w; give the plugin a tool_prefix, or do not offer the tool", decl.Name, ErrShadows)
		}
		if names[decl.Name] {
			return fmt.Errorf("the server has two tools named %q", t.Name)
		}
		names[decl.Name] = true
		s.tools = append(s.tools, &tool{server: s.server, remote: t.Name, decl: decl, rule: rule})
	}
	for _, name := range cfg.Expected {
		if !have[name] {
			cfg.Logger.Warn("the configuration names a tool that the server does not have", "tool", name)
		}
	}
	if len(s.tools) == 0 {
		cfg.Logger.Warn("the server offers no tool that can be used")
	}
	return nil
}

// Name is the one of the Config.
func (s *Set) Name() string { return s.name }

// Tools lists what is offered, in the server's order.
func (s *Set) Tools() []tools.Tool { return slices.Clone(s.tools) }

// Skill is nil: what a server writes does not get into the system prompt.
func (s *Set) Skill() *tools.Skill { return nil }

// Groups is empty.
func (s *Set) Groups() []tools.Group { return nil }

// Shutdown ends the server: end of input, TERM to its group, the grace time, KILL.
// The end of ctx cuts the grace time short. Calls under way answer error records.
func (s *Set) Shutdown(ctx context.Context) error { return s.server.shutdown(ctx) }
