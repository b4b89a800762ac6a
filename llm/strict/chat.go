package strict

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

type strictMessage struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content"`
	Refusal    string         `json:"refusal"`
	ToolCallID string         `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Chat is the strictest Chat Completions server we know of: valid JSON in valid UTF-8 without
// duplicate names; known roles; system first; every call with a unique id, a name of at
// most 64 plain characters and an object as arguments, answered right behind it, in
// order, once; no assistant message without content and calls, none with empty content.
func Chat(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the body is no UTF-8")
	}
	var req struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Messages []strictMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if req.Model == "" || !req.Stream || len(req.Messages) == 0 {
		return errors.New("model, stream or messages missing")
	}
	c := chatChecker{seen: map[string]bool{}}
	for i, m := range req.Messages {
		if err := c.next(i, m); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	return c.settled()
}

type chatChecker struct {
	open []string // ids of calls that wait for their result
	seen map[string]bool
}

func (c *chatChecker) settled() error {
	if len(c.open) > 0 {
		return fmt.Errorf("calls %q have no result", c.open)
	}
	return nil
}

func (c *chatChecker) next(i int, m strictMessage) error {
	if m.Role == "tool" {
		if len(c.open) == 0 || c.open[0] != m.ToolCallID {
			return fmt.Errorf("result of %q, wanted one of %q", m.ToolCallID, c.open)
		}
		c.open = c.open[1:]
		return wantText(m.Content)
	}
	if err := c.settled(); err != nil {
		return err
	}
	switch m.Role {
	case "system":
		if i > 0 {
			return errors.New("not the first message")
		}
		return wantText(m.Content)
	case "user":
		if k := m.Content.Kind(); k != '"' && k != '[' {
			return fmt.Errorf("content is %v", k)
		}
		return nil
	case "assistant":
		return c.assistant(m)
	}
	return errors.New("unknown role")
}

func (c *chatChecker) assistant(m strictMessage) error {
	switch {
	case m.Content == nil:
		return errors.New("content is missing")
	case string(m.Content) == `""`:
		return errors.New("content is empty")
	case m.Content.Kind() == 'n' && len(m.ToolCalls) == 0 && m.Refusal == "":
		return errors.New("neither content nor calls")
	}
	for _, call := range m.ToolCalls {
		switch {
		case call.ID == "" || c.seen[call.ID]:
			return fmt.Errorf("call id %q is empty or used before", call.ID)
		case call.Type != "function":
			return fmt.Errorf("call %q is no function call", call.ID)
		}
		if err := wantFunction(call.Function.Name, call.Function.Arguments); err != nil {
			return fmt.Errorf("call %q: %w", call.ID, err)
		}
		c.seen[call.ID] = true
		c.open = append(c.open, call.ID)
	}
	return nil
}

func wantText(content jsontext.Value) error {
	if content.Kind() != '"' {
		return fmt.Errorf("content is %v, not a string", content.Kind())
	}
	return nil
}

// wantFunction checks what both protocols say of a call.
func wantFunction(name, arguments string) error {
	fits := name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	if !fits {
		return fmt.Errorf("name %q", name)
	}
	args := jsontext.Value(arguments)
	if !args.IsValid() || args.Kind() != '{' {
		return fmt.Errorf("arguments %s", args)
	}
	return nil
}
