package strict

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"unicode/utf8"
)

type responsesItem struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Output    jsontext.Value `json:"output"`
}

// Responses is the strictest Responses server we know of, one that stores nothing:
// valid JSON in valid UTF-8 without duplicate names; known kinds of items, none twice;
// roles and parts that fit each other; reasoning always before the message or call that
// it led to; every call with a unique id, a name and an object as arguments, all calls
// of a response answered behind it, in order, once.
func Responses(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("the body is no UTF-8")
	}
	var req struct {
		Model   string          `json:"model"`
		Stream  bool            `json:"stream"`
		Store   *bool           `json:"store"`
		Include []string        `json:"include"`
		Input   []responsesItem `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if req.Model == "" || !req.Stream || req.Store == nil || len(req.Input) == 0 {
		return errors.New("model, stream, store or input missing")
	}
	c := itemChecker{calls: map[string]bool{}, items: map[string]bool{}}
	for i, item := range req.Input {
		if err := c.next(item); err != nil {
			return fmt.Errorf("item %d (%s): %w", i, item.Type, err)
		}
	}
	return c.settled()
}

type itemChecker struct {
	open      []string // ids of calls that wait for their result
	answering bool     // the first of the results was there
	thought   bool     // reasoning stands without what it led to
	calls     map[string]bool
	items     map[string]bool
}

func (c *itemChecker) settled() error {
	switch {
	case c.thought:
		return errors.New("reasoning stands alone")
	case len(c.open) > 0:
		return fmt.Errorf("calls %q have no result", c.open)
	}
	return nil
}

func (c *itemChecker) next(item responsesItem) error {
	if item.ID != "" {
		if c.items[item.ID] {
			return fmt.Errorf("id %q was used before", item.ID)
		}
		c.items[item.ID] = true
	}
	switch {
	case item.Type == "function_call_output":
		return c.output(item)
	case item.Type == "message" && item.Role != "assistant":
		if err := c.settled(); err != nil {
			return err
		}
		return wantInput(item)
	}
	if c.answering && len(c.open) > 0 {
		return fmt.Errorf("calls %q have no result", c.open)
	}
	c.answering = false
	return c.made(item)
}

// made checks what the model made.
func (c *itemChecker) made(item responsesItem) error {
	c.thought = item.Type == "reasoning"
	switch item.Type {
	case "reasoning":
		return nil
	case "message":
		return wantParts(item.Content, "output_text", "refusal")
	case "function_call":
		if item.CallID == "" || c.calls[item.CallID] {
			return fmt.Errorf("call_id %q is empty or used before", item.CallID)
		}
		c.calls[item.CallID] = true
		c.open = append(c.open, item.CallID)
		return wantFunction(item.Name, item.Arguments)
	}
	return errors.New("unknown kind")
}

func (c *itemChecker) output(item responsesItem) error {
	if len(c.open) == 0 || c.open[0] != item.CallID || c.thought {
		return fmt.Errorf("result of %q, wanted one of %q", item.CallID, c.open)
	}
	c.open, c.answering = c.open[1:], true
	if item.Output.Kind() == '"' {
		return nil
	}
	return wantParts(item.Output, "input_text", "input_image", "input_file")
}

func wantInput(item responsesItem) error {
	switch item.Role {
	case "user", "system", "developer":
		return wantParts(item.Content, "input_text", "input_image", "input_file")
	}
	return fmt.Errorf("unknown role %q", item.Role)
}

// wantParts wants a list of parts of these kinds, at least one.
func wantParts(list jsontext.Value, kinds ...string) error {
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(list, &parts); err != nil || len(parts) == 0 {
		return fmt.Errorf("content is no list of parts: %s", list)
	}
	for _, p := range parts {
		known := false
		for _, kind := range kinds {
			known = known || p.Type == kind
		}
		if !known || p.Type == "output_text" && (p.Text == nil || *p.Text == "") {
			return fmt.Errorf("a part of type %q in a place for %q, or an empty one", p.Type, kinds)
		}
	}
	return nil
}
