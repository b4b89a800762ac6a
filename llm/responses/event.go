package responses

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"

	"simplex/llm/replay"
	"simplex/state"
)

// event is one event of the stream. Members are taken whatever their kind: servers
// differ, and a strange index is no reason to lose text.
type event struct {
	Type     jsontext.Value `json:"type"`
	Delta    jsontext.Value `json:"delta"`
	Item     jsontext.Value `json:"item"`
	Response jsontext.Value `json:"response"`
	Error    jsontext.Value `json:"error"`
	Object   jsontext.Value `json:"object"`

	options json.Options
	kind    string // the last type
	rawKind string // and how it was written
}

func newEvent() *event {
	return &event{options: json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// decode reads one event into e, whose memory it uses again.
func (e *event) decode(data []byte) error {
	for _, v := range []*jsontext.Value{&e.Type, &e.Delta, &e.Item, &e.Response, &e.Error, &e.Object} {
		*v = (*v)[:0]
	}
	return json.Unmarshal(data, e, e.options)
}

// name is the type; "" where it is no string. Most events have that of the last one.
func (e *event) name() string {
	if string(e.Type) != e.rawKind {
		e.rawKind, e.kind = string(e.Type), text(e.Type)
	}
	return e.kind
}

// text is the value of a string; another kind is "".
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	// Invalid UTF-8 becomes U+FFFD; the error that tells so is not wanted.
	out, _ := jsontext.AppendUnquote(nil, v)
	return string(out)
}

// object keeps an object as it came. One that is not quite JSON (a lone surrogate, a
// name twice) is repaired; what is no object at all is unset.
func object(raw jsontext.Value) state.Object {
	if raw.Kind() != '{' {
		return state.Object{}
	}
	if o, err := state.ParseObject(raw); err == nil {
		return o
	}
	var loose any
	if json.Unmarshal(raw, &loose, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return state.Object{}
	}
	o, err := state.ObjectOf(loose)
	if err != nil {
		return state.Object{}
	}
	return o
}

// objects gives the objects of a list.
func objects(v state.Value) []state.Object {
	values, _ := v.Items()
	var out []state.Object
	for _, v := range values {
		if o, err := v.Object(); err == nil {
			out = append(out, o)
		}
	}
	return out
}

// parts joins a member of all parts of one kind in the items' lists.
func parts(items []state.Object, list, kind, name, between string) string {
	var texts []string
	for _, item := range items {
		v, _ := item.Get(list)
		for _, part := range objects(v) {
			if got, _ := replay.Member(part, "type"); got == kind {
				text, _ := replay.Member(part, name)
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, between)
}

// messageText is what message items say.
func messageText(items []state.Object) (text, refusal string) {
	return parts(items, "content", "output_text", "text", ""), parts(items, "content", "refusal", "refusal", "")
}

// reasoningText is the summary or, without one, the reasoning itself.
func reasoningText(items []state.Object) string {
	if summary := parts(items, "summary", "summary_text", "text", "\n\n"); summary != "" {
		return summary
	}
	return parts(items, "content", "reasoning_text", "text", "\n\n")
}
