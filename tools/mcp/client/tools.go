package client

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
)

// Bounds on a list of tools beside the number of them.
const (
	maxPages    = 512      // an honest server puts at least one tool on a page
	maxCursor   = 64 << 10 // bytes
	maxMessages = 4        // as much as that many of the largest messages
)

// Tools lists what the server offers. More than most, or pages without end, are an
// error.
func (s *Session) Tools(ctx context.Context, most int) ([]Tool, error) {
	var out []Tool
	seen := map[string]bool{}
	left := maxMessages * s.cfg.MaxMessageBytes
	params := []byte("{}")
	for range maxPages {
		var page struct {
			Tools  []Tool `json:"tools"`
			Cursor string `json:"nextCursor"`
		}
		n, err := s.ask(ctx, methodListTools, params, &page)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Tools...)
		switch left -= n; {
		case len(out) > most:
			return nil, fmt.Errorf("the server has more than %d", most)
		case page.Cursor == "":
			return out, nil
		case left < 0:
			return nil, fmt.Errorf("the server's list has more than %d bytes", maxMessages*s.cfg.MaxMessageBytes)
		case len(page.Cursor) > maxCursor:
			return nil, fmt.Errorf("the server's list has a cursor of more than %d bytes", maxCursor)
		case seen[page.Cursor]:
			return nil, errors.New("the server's list goes round in a circle")
		}
		seen[page.Cursor] = true
		params = append(append([]byte(`{"cursor":`), quote(page.Cursor)...), '}')
	}
	return nil, fmt.Errorf("the server's list has more than %d pages", maxPages)
}

// CallTool calls a tool. The arguments are a JSON object without line ends, sent byte
// for byte. The error is an *Error, that of ctx, ErrLost, ErrProtocol, or tells of a
// result that cannot be read; in all cases but the first the tool may have done its
// work.
func (s *Session) CallTool(ctx context.Context, name string, arguments jsontext.Value) (*Result, error) {
	params := append([]byte(`{"name":`), quote(name)...)
	params = append(params, `,"arguments":`...)
	params = append(params, arguments...)
	var result Result
	if _, err := s.ask(ctx, methodCallTool, append(params, '}'), &result); err != nil {
		return nil, err
	}
	return &result, nil
}
