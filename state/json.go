package state

import "encoding/json/jsontext"

// The JSON of single records, for the wire, hooks and stores: compact, keys sorted, the
// same members always written as in a document. Invalid UTF-8 is an *EncodeError.
//
// Reading follows the rules for durable records (§1.1); null for a nested plain record,
// and for the record itself, means its defaults.

func marshal(enc *jsontext.Encoder, write func(*writer)) error {
	w := writer{compact: true}
	write(&w)
	if w.err != nil {
		return w.err
	}
	return enc.WriteValue(w.buf)
}

func unmarshal[T any](dec *jsontext.Decoder, out *T, fresh T, read func(*scanner, *T)) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	s := scanner{data: raw, limit: maxDocumentDepth, record: true}
	if !s.null() {
		read(&s, &fresh)
	}
	s.end()
	if s.err != nil {
		return s.err
	}
	*out = fresh
	return nil
}

// MarshalJSONTo writes the record in compact form.
func (s State) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.state(&s) })
}

// UnmarshalJSONFrom reads the record.
func (s *State) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, s, State{Meta: freshMeta(), SystemPrompt: SystemPrompt{HeadingLevel: defaultHeadingLevel}}, (*scanner).state)
}

// MarshalJSONTo writes the record in compact form.
func (m Meta) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.meta(&m) })
}

// UnmarshalJSONFrom reads the record.
func (m *Meta) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, m, freshMeta(), (*scanner).meta)
}

// MarshalJSONTo writes the record in compact form.
func (s SystemPrompt) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.prompt(&s) })
}

// UnmarshalJSONFrom reads the record.
func (s *SystemPrompt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, s, SystemPrompt{HeadingLevel: defaultHeadingLevel}, (*scanner).prompt)
}

// MarshalJSONTo writes the record in compact form.
func (s Section) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.section(&s) })
}

// UnmarshalJSONFrom reads the record.
func (s *Section) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, s, Section{Stability: Immutable}, (*scanner).section)
}

// MarshalJSONTo writes the record in compact form.
func (t Tool) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.tool(&t) })
}

// UnmarshalJSONFrom reads the record.
func (t *Tool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, t, Tool{ArgumentSchema: EmptyObject()}, (*scanner).tool)
}

// MarshalJSONTo writes the record in compact form.
func (t Turn) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.turn(&t) })
}

// UnmarshalJSONFrom reads the record.
func (t *Turn) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, t, Turn{UserInput: freshMessage(UserInput), Retain: RetainNormal}, (*scanner).turn)
}

// MarshalJSONTo writes the record in compact form.
func (s Step) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.step(&s) })
}

// UnmarshalJSONFrom reads the record.
func (s *Step) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, s, Step{ModelResponse: freshMessage(ModelResponse), Retain: RetainNormal}, (*scanner).step)
}

// MarshalJSONTo writes the record in compact form.
func (m Message) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.message(&m, UserInput) })
}

// UnmarshalJSONFrom reads the record.
func (m *Message) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, m, *freshMessage(UserInput), (*scanner).message)
}

// MarshalJSONTo writes the record in compact form.
func (c Content) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.content(&c) })
}

// UnmarshalJSONFrom reads the record.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, c, freshContent(), (*scanner).content)
}

// MarshalJSONTo writes the record in compact form.
func (t TokenCost) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.cost(&t) })
}

// UnmarshalJSONFrom reads the record.
func (t *TokenCost) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, t, TokenCost{}, (*scanner).cost)
}

// MarshalJSONTo writes the record in compact form.
func (c Call) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.call(&c) })
}

// UnmarshalJSONFrom reads the record.
func (c *Call) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, c, freshCall(), (*scanner).call)
}

// MarshalJSONTo writes the record in compact form.
func (r Result) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.result(&r) })
}

// UnmarshalJSONFrom reads the record.
func (r *Result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, r, Result{Call: freshCall(), Output: freshContent()}, (*scanner).result)
}

// MarshalJSONTo writes the record in compact form.
func (l LoopProgress) MarshalJSONTo(enc *jsontext.Encoder) error {
	return marshal(enc, func(w *writer) { w.loop(&l) })
}

// UnmarshalJSONFrom reads the record.
func (l *LoopProgress) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshal(dec, l, *NewLoop(), (*scanner).loop)
}
