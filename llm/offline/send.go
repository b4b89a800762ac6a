package offline

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// outgoing is an answer on its way.
type outgoing struct {
	Reply
	req *request
	n   int // number of the request
}

// send writes an answer as the protocol wants it. A client that goes ends it.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, o outgoing) {
	if o.Hang {
		<-ctx.Done()
		return
	}
	if !wait(ctx, o.Delay) {
		return
	}
	for name, value := range o.Header {
		w.Header().Set(name, value)
	}
	if o.Status != 0 {
		w.WriteHeader(o.Status)
		_, _ = io.WriteString(w, o.Body)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.Header().Set("Cache-Control", "no-cache")
	if o.Body != "" {
		_, _ = io.WriteString(w, o.Body)
		return
	}
	flush := http.NewResponseController(w).Flush
	var frame bytes.Buffer
	for _, chunk := range o.chunks() {
		frame.Reset()
		frame.WriteString("data: ")
		// Strings, numbers and maps of them always encode.
		_ = json.MarshalWrite(&frame, chunk, json.Deterministic(true))
		frame.WriteString("\n\n")
		if _, err := w.Write(frame.Bytes()); err != nil {
			return
		}
		_ = flush()
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

type dict = map[string]any

// chunks cuts an answer into the pieces in which a model would send it.
func (o outgoing) chunks() []dict {
	var out []dict
	add := func(delta dict, finish any) {
		out = append(out, o.chunk([]dict{{"index": 0, "delta": delta, "finish_reason": finish}}))
	}
	add(dict{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(o.Reasoning) {
		add(dict{"reasoning_content": piece}, nil)
	}
	for _, piece := range pieces(o.Text) {
		add(dict{"content": piece}, nil)
	}
	for i, c := range o.Calls {
		add(dict{"tool_calls": []dict{{
			"index": i, "id": c.ID, "type": "function",
			"function": dict{"name": c.Name, "arguments": ""},
		}}}, nil)
		for _, piece := range pieces(c.Arguments) {
			add(dict{"tool_calls": []dict{{"index": i, "function": dict{"arguments": piece}}}}, nil)
		}
	}
	add(dict{}, o.finish())
	last := o.chunk([]dict{})
	last["usage"] = o.usage()
	return append(out, last)
}

func (o outgoing) chunk(choices []dict) dict {
	return dict{
		"id": fmt.Sprintf("chatcmpl-offline-%d", o.n+1), "object": "chat.completion.chunk",
		"created": 0, "model": o.req.Model, "choices": choices,
	}
}

func (o outgoing) finish() string {
	switch {
	case o.Finish != "":
		return o.Finish
	case len(o.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// usage counts four bytes as a token, and what an earlier request of the same turn has
// sent as cached.
func (o outgoing) usage() dict {
	prompt, generated := max(1, o.req.bytes/4), len(o.Text)+len(o.Reasoning)
	for _, c := range o.Calls {
		generated += len(c.Name) + len(c.Arguments)
	}
	generated = max(1, generated/4)
	cached := 0
	if len(o.req.results()) > 0 {
		cached = prompt * 3 / 4
	}
	return dict{
		"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated,
		"prompt_tokens_details": dict{"cached_tokens": cached},
	}
}

// pieces cuts text behind blanks, into pieces of some words each; a long text gives
// longer pieces, so that there are never many.
func pieces(text string) []string {
	size := max(24, len(text)/64)
	var out []string
	for len(text) > size {
		end := size
		if i := strings.IndexByte(text[end:], ' '); i >= 0 && i < size {
			end += i + 1
		} else {
			for end < len(text) && text[end]&0xC0 == 0x80 {
				end++
			}
		}
		out, text = append(out, text[:end]), text[end:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
