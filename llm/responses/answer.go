package responses

import (
	"encoding/json/jsontext"
	"errors"
	"io"

	"simplex/llm"
	"simplex/llm/post"
	"simplex/llm/replay"
	"simplex/state"
)

// maxAnswer bounds what one answer may grow to, in bytes.
const maxAnswer = 64 << 20

var errTooLarge = errors.New("the answer is larger than 64 MiB")

// answer is a response as far as it has come, from one try.
type answer struct {
	delta func(llm.Delta) // may be nil

	id      string
	items   []state.Object // finished ones, in order
	open    int            // items begun and not finished
	text    []byte         // of the deltas, for servers that finish no item
	thought []byte
	usage   state.Value
	size    int
}

// Read takes a stream in until its terminal event, or tells why there is no answer.
func (a *answer) Read(s *post.Stream) error {
	plain, err := s.Plain()
	switch {
	case errors.Is(err, io.EOF):
		return truncated()
	case err != nil:
		return err
	case plain != nil:
		return a.readPlain(s, plain)
	}
	e := newEvent()
	for {
		got, err := s.Next()
		if errors.Is(err, io.EOF) || err == nil && string(got.Data) == "[DONE]" {
			return truncated()
		}
		if err != nil {
			return err
		}
		if e.decode(got.Data) != nil {
			continue // as in Chat Completions: what is no JSON is ignored
		}
		kind := e.name()
		if kind == "" {
			kind = got.Name
		}
		if end, err := a.take(s, kind, e, got.Data); end || err != nil {
			return err
		}
	}
}

func truncated() error {
	return &llm.Error{Stage: llm.StageRead, Err: llm.ErrTruncated, Transient: true}
}

// take takes one event in; end tells that the answer is complete.
func (a *answer) take(s *post.Stream, kind string, e *event, data []byte) (end bool, err error) {
	switch kind {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return true, a.finish(s, kind, object(e.Response))
	case "response.created":
		a.id, _ = replay.Member(object(e.Response), "id")
	case "response.output_item.added":
		a.open++
	case "response.output_item.done":
		a.open--
		a.size += len(e.Item)
		a.items = append(a.items, object(e.Item))
	case "response.output_text.delta":
		a.text = a.show(llm.DeltaText, a.text, e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.thought = a.show(llm.DeltaReasoning, a.thought, e.Delta)
	default:
		if fault := faultIn(kind, e, data); fault != nil {
			return true, s.ProviderError(fault)
		}
	}
	if a.size > maxAnswer {
		return true, &llm.Error{Stage: llm.StageAssembly, Err: errTooLarge}
	}
	return false, nil
}

func (a *answer) show(kind string, sum []byte, delta jsontext.Value) []byte {
	if delta.Kind() != '"' {
		return sum
	}
	before := len(sum)
	// Invalid UTF-8 becomes U+FFFD; the error that tells so is not wanted.
	sum, _ = jsontext.AppendUnquote(sum, delta)
	piece := sum[before:]
	a.size += len(piece)
	if a.delta != nil && len(piece) > 0 {
		a.delta(llm.Delta{Kind: kind, Text: string(piece)})
	}
	return sum
}

// faultIn gives the error object of an event that is one, in any of the known forms.
func faultIn(kind string, e *event, data []byte) []byte {
	switch {
	case len(e.Error) > 0 && e.Error.Kind() != 'n':
		return e.Error
	case kind == "error" || text(e.Object) == "error":
		return data
	}
	return nil
}

// readPlain takes a body that is no event stream: an error object, or a whole response
// from a server that does not stream.
func (a *answer) readPlain(s *post.Stream, body []byte) error {
	e := newEvent()
	whole := object(body)
	if err := e.decode(body); err != nil || !whole.IsSet() {
		return &llm.Error{Stage: llm.StageProvider, Message: "the answer is no event stream: " + s.Excerpt(body)}
	}
	if fault := faultIn("", e, body); fault != nil {
		return s.ProviderError(fault)
	}
	if _, has := whole.Get("output"); !has {
		return &llm.Error{Stage: llm.StageProvider, Message: "the answer is no event stream: " + s.Excerpt(body)}
	}
	return a.finish(s, "response.completed", whole)
}
