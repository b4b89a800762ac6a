package chat

import (
	"encoding/json/jsontext"
	"errors"
	"io"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/llm/sse"
)

// maxAnswer bounds what one answer may grow to, in bytes.
const maxAnswer = 64 << 20

// settleLimit is how long usage and [DONE] are awaited once finish_reason is there.
const settleLimit = 5 * time.Second

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// answer is a response as far as it has come, from one try.
type answer struct {
	delta     func(llm.Delta) // may be nil
	cacheHits string          // see Dialect

	id, model string
	any       bool // choice 0 was seen
	text      []byte
	reasoning []byte
	refusal   []byte
	calls     []*callParts
	finish    openai.FinishReason
	usage     jsontext.Value
	size      int
}

// callParts is a tool call as far as it has come.
type callParts struct {
	index    int
	id, name string
	args     []byte
}

// Read takes a stream in until the answer is complete, or tells why it is none (§9, 10).
func (a *answer) Read(s *post.Stream) error {
	plain, err := s.Plain()
	switch {
	case errors.Is(err, io.EOF):
		return a.end(false)
	case err != nil:
		return err
	case plain != nil:
		return a.readPlain(s, plain)
	}
	dec := newDecoder()
	settling := false
	for {
		event, err := s.Next()
		if errors.Is(err, io.EOF) {
			return a.end(false)
		}
		if err != nil {
			return err
		}
		if string(event.Data) == "[DONE]" {
			return a.end(true)
		}
		if err := a.event(s, dec, event); err != nil {
			return err
		}
		if a.finish != "" && !settling {
			settling = true
			s.Settle(settleLimit)
		}
	}
}

// event takes one chunk in. One that is no JSON is ignored.
func (a *answer) event(s *post.Stream, dec *decoder, event sse.Event) error {
	c, err := dec.decode(event.Data)
	if err != nil {
		return nil //nolint:nilerr // §6.5: an unparsable chunk is ignored
	}
	if c.fault != nil {
		return s.ProviderError(c.fault)
	}
	if event.Name == "error" || c.failed {
		return s.ProviderError(event.Data)
	}
	return a.add(c)
}

// readPlain takes a body that is no event stream: an error object, or a whole
// completion from a server that does not stream.
func (a *answer) readPlain(s *post.Stream, body []byte) error {
	c, err := newDecoder().decode(body)
	switch {
	case err == nil && c.fault != nil:
		return s.ProviderError(c.fault)
	case err == nil && c.failed:
		return s.ProviderError(body)
	case err == nil && c.choice:
		if err := a.add(c); err != nil {
			return err
		}
		return a.end(true)
	}
	return &llm.Error{Stage: llm.StageProvider, Message: "the answer is no event stream: " + s.Excerpt(body)}
}

func (a *answer) add(c *chunk) error {
	if a.id == "" {
		a.id = c.id
	}
	if a.model == "" {
		a.model = c.model
	}
	if c.usage != nil {
		a.usage = append(a.usage[:0], c.usage...)
	}
	if !c.choice {
		return nil
	}
	d := &c.delta
	a.any = a.any || d.Content != "" || d.ReasoningContent != "" || d.Refusal != "" || len(c.calls) > 0
	a.text = append(a.text, d.Content...)
	a.reasoning = append(a.reasoning, d.ReasoningContent...)
	a.refusal = append(a.refusal, d.Refusal...)
	a.size += len(d.Content) + len(d.ReasoningContent) + len(d.Refusal)
	for i := range c.calls {
		a.addCall(&c.calls[i])
		a.size += len(c.calls[i].args) + len(c.calls[i].name) + len(c.calls[i].id) + 64
	}
	if c.finish != "" && c.finish != openai.FinishReasonNull {
		a.finish = c.finish
	}
	if a.size > maxAnswer {
		return &llm.Error{Stage: llm.StageAssembly, Err: errTooLarge}
	}
	a.show(llm.DeltaReasoning, d.ReasoningContent)
	a.show(llm.DeltaText, d.Content)
	return nil
}

func (a *answer) show(kind, text string) {
	if a.delta != nil && text != "" {
		a.delta(llm.Delta{Kind: kind, Text: text})
	}
}

// addCall joins pieces by index. A new id at an index in use starts another call, and
// so does a new name behind whole arguments where there are no ids.
func (a *answer) addCall(d *callDelta) {
	at := a.find(d)
	if at == nil || startsAnother(at, d) {
		a.calls = append(a.calls, &callParts{index: d.index, id: d.id, name: d.name, args: []byte(d.args)})
		return
	}
	repeated := d.id != "" && d.id == at.id && d.name == at.name
	if at.id == "" {
		at.id = d.id
	}
	if !repeated {
		at.name += d.name
	}
	at.args = append(at.args, d.args...)
}

// find gives the newest call that the piece may belong to.
func (a *answer) find(d *callDelta) *callParts {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if d.index >= 0 && c.index == d.index || d.index < 0 && (d.id == "" || d.id == c.id) {
			return c
		}
	}
	return nil
}

func startsAnother(at *callParts, d *callDelta) bool {
	if d.id != "" && at.id != "" {
		return d.id != at.id
	}
	return d.name != "" && at.name != "" && len(at.args) > 0 && jsontext.Value(at.args).IsValid()
}
