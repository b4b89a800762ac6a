package offline

import (
	"fmt"
	"strings"
)

type dict = map[string]any

// frame is one event of a stream.
type frame struct {
	name    string // of the event; "": none
	data    dict   // nil: the word [DONE]
	content bool   // a piece of the answer is in it
}

// chatFrames cuts an answer into the chunks in which a Chat Completions server would
// send it.
func (o outgoing) chatFrames() []frame {
	var out []frame
	add := func(delta dict, finish any, content bool) {
		choices := []dict{{"index": 0, "delta": delta, "finish_reason": finish}}
		out = append(out, frame{data: o.chunk(choices), content: content})
	}
	if o.Flaw.EmptyFirst {
		out = append(out, frame{data: o.chunk([]dict{})})
	}
	add(dict{"role": "assistant", "content": ""}, nil, false)
	for _, piece := range pieces(o.Reasoning) {
		add(dict{"reasoning_content": piece}, nil, true)
	}
	for _, piece := range pieces(o.Text) {
		add(dict{"content": piece}, nil, true)
	}
	for i, c := range o.Calls {
		for _, piece := range o.chatCall(i, c) {
			add(dict{"tool_calls": []dict{piece}}, nil, true)
		}
	}
	if o.Flaw.Fault != "" {
		out = append(out, frame{data: dict{"choices": []dict{}, "error": o.fault()}})
	}
	if !o.Flaw.NoEnd {
		add(dict{}, o.finish(), false)
	}
	if o.Flaw.Fault == "" && !(o.Flaw.NoEnd && o.Flaw.NoDone) {
		last := o.chunk([]dict{})
		last["usage"] = o.chatUsage()
		out = append(out, frame{data: last})
	}
	if !o.Flaw.NoDone {
		out = append(out, frame{})
	}
	return out
}

// chatCall cuts a call into pieces: its head, then the arguments. Without indexes that
// can be told apart, it comes whole.
func (o outgoing) chatCall(i int, c Call) []dict {
	piece := dict{"index": i, "id": c.ID, "type": "function", "function": dict{"name": c.Name, "arguments": ""}}
	switch o.Flaw.Index {
	case IndexZero:
		piece["index"] = 0
	case IndexNone:
		delete(piece, "index")
	default:
		out := []dict{piece}
		for _, text := range pieces(c.Arguments) {
			out = append(out, dict{"index": i, "function": dict{"arguments": text}})
		}
		return out
	}
	piece["function"] = dict{"name": c.Name, "arguments": c.Arguments}
	return []dict{piece}
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

func (o outgoing) chatUsage() dict {
	prompt, generated, cached := o.usage()
	return dict{
		"prompt_tokens": prompt, "completion_tokens": generated, "total_tokens": prompt + generated,
		"prompt_tokens_details": dict{"cached_tokens": cached},
	}
}

// usage counts four bytes as a token, and what an earlier request of the same turn has
// sent as cached.
func (o outgoing) usage() (prompt, generated, cached int) {
	prompt, generated = max(1, len(o.req.body)/4), len(o.Text)+len(o.Reasoning)
	for _, c := range o.Calls {
		generated += len(c.Name) + len(c.Arguments)
	}
	if len(o.req.results()) > 0 {
		cached = prompt * 3 / 4
	}
	return prompt, max(1, generated/4), cached
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
