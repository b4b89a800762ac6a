package chat

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"

	openai "github.com/sashabaranov/go-openai"
)

// chunk is what one event says about choice 0.
type chunk struct {
	id, model string
	choice    bool // choice 0 is in it
	delta     openai.ChatCompletionStreamChoiceDelta
	calls     []callDelta
	finish    openai.FinishReason
	usage     jsontext.Value // valid until the next decode; nil: none or null
	fault     jsontext.Value // the error member; the same
	failed    bool           // the chunk itself is an error object
}

// callDelta is a piece of a tool call. The index is -1 when it is missing.
type callDelta struct {
	index          int
	id, name, args string
}

// chunkKind is what nearly every chunk says it is.
const chunkKind = "chat.completion.chunk"

var errTrailing = errors.New("text behind the JSON value")

// decoder reads chunks. Members that it does not know, and known ones of an odd type,
// are skipped: servers differ, and a strange `created` is no reason to lose text.
type decoder struct {
	buf     bytes.Buffer
	dec     *jsontext.Decoder
	scratch []byte
	c       chunk
}

func newDecoder() *decoder {
	d := &decoder{}
	d.dec = jsontext.NewDecoder(&d.buf)
	return d
}

// decode reads one chunk. What it gives is valid until the next call.
func (d *decoder) decode(data []byte) (*chunk, error) {
	d.buf.Reset()
	d.buf.Write(data)
	d.dec.Reset(&d.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	d.c = chunk{id: d.c.id, model: d.c.model, calls: d.c.calls[:0]}
	if d.dec.PeekKind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	if err := d.members(d.top); err != nil {
		return nil, err
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return &d.c, nil
}

// members calls take for each member of the object that comes next, with the quoted
// name; take must consume the value. Another kind of value is skipped.
func (d *decoder) members(take func(name []byte) error) error {
	if d.dec.PeekKind() != '{' {
		return d.dec.SkipValue()
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	for d.dec.PeekKind() == '"' {
		name, err := d.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := take(name); err != nil {
			return err
		}
	}
	_, err := d.dec.ReadToken()
	return err
}

// elements calls take for each element of the array that comes next.
func (d *decoder) elements(take func() error) error {
	if d.dec.PeekKind() != '[' {
		return d.dec.SkipValue()
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	for {
		switch d.dec.PeekKind() {
		case ']', jsontext.KindInvalid:
			_, err := d.dec.ReadToken()
			return err
		}
		if err := take(); err != nil {
			return err
		}
	}
}

func (d *decoder) top(name []byte) (err error) {
	switch string(name) {
	case `"id"`:
		d.c.id, err = d.text(d.c.id)
	case `"model"`:
		d.c.model, err = d.text(d.c.model)
	case `"choices"`:
		err = d.elements(d.choice)
	case `"usage"`:
		d.c.usage, err = d.raw(d.c.usage)
	case `"error"`:
		d.c.fault, err = d.raw(d.c.fault)
	case `"object"`:
		var kind string
		kind, err = d.text(chunkKind)
		d.c.failed = kind == "error"
	default:
		err = d.dec.SkipValue()
	}
	return err
}

// choice reads one choice and keeps it if its index is 0 or missing.
func (d *decoder) choice() error {
	index, kept := 0, d.c
	err := d.members(func(name []byte) (err error) {
		switch string(name) {
		case `"index"`:
			index, err = d.integer()
		case `"delta"`, `"message"`: // message: a server that does not stream
			err = d.members(d.inDelta)
		case `"finish_reason"`:
			var word string
			word, err = d.text("")
			d.c.finish = openai.FinishReason(word)
		default:
			err = d.dec.SkipValue()
		}
		return err
	})
	if index > 0 {
		d.c = kept
		return err
	}
	d.c.choice = true
	return err
}

func (d *decoder) inDelta(name []byte) (err error) {
	switch string(name) {
	case `"content"`:
		d.c.delta.Content, err = d.content()
	case `"reasoning_content"`:
		d.c.delta.ReasoningContent, err = d.text("")
	case `"reasoning"`: // the same under the name that some servers use, or use as well
		var word string
		if word, err = d.text(""); d.c.delta.ReasoningContent == "" {
			d.c.delta.ReasoningContent = word
		}
	case `"refusal"`:
		d.c.delta.Refusal, err = d.text("")
	case `"tool_calls"`:
		err = d.elements(d.call)
	case `"function_call"`:
		if d.dec.PeekKind() != '{' {
			return d.dec.SkipValue()
		}
		call := callDelta{index: 0}
		err = d.function(&call)
		d.c.calls = append(d.c.calls, call)
	default:
		err = d.dec.SkipValue()
	}
	return err
}

func (d *decoder) call() error {
	call := callDelta{index: -1}
	err := d.members(func(name []byte) (err error) {
		switch string(name) {
		case `"index"`:
			call.index, err = d.integer()
		case `"id"`:
			call.id, err = d.text("")
		case `"function"`:
			err = d.function(&call)
		default:
			err = d.dec.SkipValue()
		}
		return err
	})
	d.c.calls = append(d.c.calls, call)
	return err
}

func (d *decoder) function(call *callDelta) error {
	return d.members(func(name []byte) (err error) {
		switch string(name) {
		case `"name"`:
			call.name, err = d.text("")
		case `"arguments"`:
			if d.dec.PeekKind() == '{' { // an object where the protocol has its text
				var raw jsontext.Value
				raw, err = d.dec.ReadValue()
				call.args = string(raw)
				return err
			}
			call.args, err = d.text("")
		default:
			err = d.dec.SkipValue()
		}
		return err
	})
}
