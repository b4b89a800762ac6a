package contextstat

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"

	"simplex/hooks"
	"simplex/state"
)

// HookName is the hook's name: in configuration, in logs and of its slot in the session.
const HookName = "context_statistic"

// ErrWindow is returned for a window of no tokens.
var ErrWindow = errors.New("context_window_tokens must be an integer > 0")

// Hook implements hooks.Handler. It belongs to the goroutine of one run at a time.
type Hook struct {
	window   uint64
	estimate estimate
}

// New makes the hook for a window of that many tokens.
func New(windowTokens uint64) (*Hook, error) {
	if windowTokens == 0 {
		return nil, fmt.Errorf("hook %s: %w", HookName, ErrWindow)
	}
	return &Hook{window: windowTokens}, nil
}

// Name is context_statistic.
func (h *Hook) Name() string { return HookName }

// Handle keeps the statistic up to date on BeforeModel, EditOnStepFinished and
// EditOnRunFinished; other events are ignored.
func (h *Hook) Handle(_ context.Context, e *hooks.Event) error {
	switch {
	case e.Name == hooks.BeforeModel && e.Candidate != nil:
		return h.beforeModel(e)
	case (e.Name == hooks.EditOnStepFinished || e.Name == hooks.EditOnRunFinished) && e.Edit != nil:
		return h.update(e.Edit, &e.Edit.Extras, nil)
	}
	return nil
}

func (h *Hook) beforeModel(e *hooks.Event) error {
	tokens, err := h.estimate.of(e.Candidate.SystemPrompt, e.Candidate.Tools)
	if err != nil {
		return err
	}
	begins := e.State.Loop == nil || e.State.Loop.CompletedExchanges == 0
	return h.update(e.State, &e.Candidate.Extras, func(c *counters) {
		c.zeroRequest = tokens
		if begins {
			c.inRun = 0
		}
	})
}

// update counts the steps of st that are new and writes the slot into extras.
func (h *Hook) update(st *state.State, extras *state.Object, more func(*counters)) error {
	status, slot, err := slotOf(*extras)
	if err != nil {
		return err
	}
	var c counters
	fresh := !slot.IsSet()
	if fresh {
		if c.zeroRequest, err = h.estimate.of(st.SystemPrompt, st.Tools); err != nil {
			return err
		}
	} else if c, err = read(slot); err != nil {
		return err
	}
	if err := c.catchUp(st, fresh); err != nil {
		return err
	}
	if more != nil {
		more(&c)
	}
	now, err := c.write(h.window)
	if err != nil {
		return err
	}
	if now != slot {
		*extras = extras.With(statusName, status.With(HookName, now.Value).Value)
	}
	return nil
}

// estimate remembers the size of the last prompt and tools it measured.
type estimate struct {
	known  bool
	prompt state.SystemPrompt
	tools  []state.Tool
	tokens uint64
}

// of is the tokens of a request without conversation: a quarter of the bytes of the
// rendered prompt and, if there are tools, of their compact declarations, rounded up.
func (e *estimate) of(prompt state.SystemPrompt, tools []state.Tool) (uint64, error) {
	if e.known && e.prompt.HeadingLevel == prompt.HeadingLevel &&
		slices.Equal(e.prompt.Sections, prompt.Sections) && slices.EqualFunc(e.tools, tools, sameDeclaration) {
		return e.tokens, nil
	}
	text, err := prompt.Render()
	if err != nil {
		return 0, fmt.Errorf("system prompt: %w", err)
	}
	size := len(text)
	if len(tools) > 0 {
		raw, err := json.Marshal(declarations(tools))
		if err != nil {
			return 0, fmt.Errorf("tools: %w", err)
		}
		size += len(raw)
	}
	*e = estimate{true, prompt, tools, (uint64(size) + 3) / 4}
	return e.tokens, nil
}

func sameDeclaration(a, b state.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && a.ArgumentSchema == b.ArgumentSchema
}

type declaration struct {
	Description string       `json:"description"`
	Name        string       `json:"name"`
	Parameters  state.Object `json:"parameters"`
}

func declarations(tools []state.Tool) []declaration {
	out := make([]declaration, len(tools))
	for i, t := range tools {
		out[i] = declaration{t.Description, t.Name, t.ArgumentSchema}
		if !t.ArgumentSchema.IsSet() {
			out[i].Parameters = state.EmptyObject()
		}
	}
	return out
}
