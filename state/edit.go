package state

import (
	"slices"
	"strings"
	"time"
)

// TimeStamp is the time as meta writes it: UTC, whole seconds.
func TimeStamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// New is the state of a session that has just begun.
func New(sessionID string, now time.Time) *State {
	meta := freshMeta()
	meta.SessionID = sessionID
	meta.CreatedAt = TimeStamp(now)
	meta.UpdatedAt = meta.CreatedAt
	return &State{
		Meta:         meta,
		SystemPrompt: SystemPrompt{HeadingLevel: defaultHeadingLevel},
		Loop:         NewLoop(),
	}
}

// NewLoop is the progress of a session that has not run yet.
func NewLoop() *LoopProgress { return &LoopProgress{Status: StatusIdle, Phase: PhaseReady} }

// Clone is a snapshot: later edits of either side, done by the rules of State, do not show
// in the other. It costs a few words, not the history, and only reads s, so snapshots may
// be cloned by several goroutines. Nil gives nil.
func (s *State) Clone() *State {
	if s == nil {
		return nil
	}
	c := *s
	c.Tools = slices.Clip(c.Tools)
	c.Turns = slices.Clip(c.Turns)
	c.SystemPrompt.Sections = slices.Clip(c.SystemPrompt.Sections)
	if s.Loop != nil {
		loop := *s.Loop
		loop.Pending = slices.Clip(loop.Pending)
		c.Loop = &loop
	}
	return &c
}

// LastTurn is the last turn, nil when there is none.
func (s *State) LastTurn() *Turn {
	if len(s.Turns) == 0 {
		return nil
	}
	return s.Turns[len(s.Turns)-1]
}

// LastStep is the last step of the last turn, nil when there is none.
func (s *State) LastStep() *Step {
	t := s.LastTurn()
	if t == nil || len(t.Steps) == 0 {
		return nil
	}
	return t.Steps[len(t.Steps)-1]
}

// AppendTurn adds a turn.
func (s *State) AppendTurn(t *Turn) { s.Turns = append(slices.Clip(s.Turns), t) }

// AppendStep adds a step to the last turn; without a turn, one with an empty input is made.
func (s *State) AppendStep(step *Step) {
	if len(s.Turns) == 0 {
		s.AppendTurn(&Turn{UserInput: freshMessage(UserInput), Retain: RetainNormal})
	}
	s.editLastTurn(func(t *Turn) { t.Steps = append(slices.Clip(t.Steps), step) })
}

// ReplaceLastStep puts step in the place of the last step of the last turn, or appends it
// where there is none.
func (s *State) ReplaceLastStep(step *Step) {
	if s.LastStep() == nil {
		s.AppendStep(step)
		return
	}
	s.editLastTurn(func(t *Turn) {
		t.Steps = slices.Clone(t.Steps)
		t.Steps[len(t.Steps)-1] = step
	})
}

func (s *State) editLastTurn(edit func(*Turn)) {
	last := len(s.Turns) - 1
	t := *s.Turns[last]
	edit(&t)
	s.Turns = slices.Clone(s.Turns)
	s.Turns[last] = &t
}

// TextContent is a part of plain text.
func TextContent(text string) Content {
	return Content{Type: TypeText, Raw: text, Modality: ModalityText}
}

// NewTextMessage is a message of one text part.
func NewTextMessage(t MessageType, role, text string) *Message {
	return &Message{Type: t, Role: role, Content: []Content{TextContent(text)}}
}

// NewResultMessage is the projection of a result (worker-data.md §1.7, decision 9.1).
func NewResultMessage(r Result) *Message {
	return &Message{Type: InvokeReturn, Role: "tool", Content: []Content{r.Output}, Result: &r}
}

// Text is the text of all text parts, one after the other.
func (m *Message) Text() string {
	if m == nil {
		return ""
	}
	var parts []string
	for i := range m.Content {
		if m.Content[i].Type == TypeText {
			parts = append(parts, m.Content[i].Raw)
		}
	}
	return strings.Join(parts, "")
}

// CallLabel is the call's display name: name, two underscores, id, each with bytes outside
// [A-Za-z0-9_-] replaced by an underscore and cut at 64. It is no identity.
func CallLabel(c Call) string { return labelField(c.Name) + "__" + labelField(c.ID) }

func labelField(text string) string {
	out := []byte(text[:min(len(text), 64)])
	for i, c := range out {
		if !plainByte(c) {
			out[i] = '_'
		}
	}
	return string(out)
}
