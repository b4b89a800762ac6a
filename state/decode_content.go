package state

// contents reads a message's content: an array, a single part (older files) or null.
func (s *scanner) contents() []Content {
	if s.null() || s.err != nil {
		return []Content{}
	}
	if s.peek() == '{' {
		out := make([]Content, 1)
		s.content(&out[0])
		return out
	}
	if s.peek() != '[' {
		s.want("an object or an array")
		return nil
	}
	return list(s, (*scanner).content)
}

func (s *scanner) optionalContent() *Content {
	if s.null() || s.err != nil {
		return nil
	}
	c := new(Content)
	s.content(c)
	return c
}

func (s *scanner) content(c *Content) {
	c.Type = TypeText
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "type":
			if s.once(&f, 0) {
				c.Type = tolerant(s, TypeText, TypeBinary, TypeExternalRef)
			}
		case "raw":
			if s.once(&f, 1) {
				c.Raw = s.str()
			}
		case "modality":
			if s.once(&f, 2) {
				c.Modality = s.modality()
			}
		case "extras":
			if s.once(&f, 3) {
				c.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	c.Unknown = s.rest(&f)
	if s.err == nil && !f.has(2) {
		s.inferModality(c)
	}
}

func (s *scanner) modality() Modality {
	return strict(s, ModalityText, ModalityImage, ModalityAudio, ModalityVideo, ModalityDocument)
}

// inferModality labels a part of an older file (§1.7).
func (s *scanner) inferModality(c *Content) {
	switch c.Type {
	case TypeText:
		c.Modality = ModalityText
		return
	case TypeExternalRef:
		kind, _ := c.Extras.Get("type")
		if kind.raw != `"input_file"` {
			c.Modality = ModalityImage
			return
		}
		s.fail("is missing and ambiguous for an input_file reference")
	default:
		s.fail("is missing, which binary content does not allow")
	}
	s.err.within([]byte("modality"))
}

func (s *scanner) call(c *Call) {
	*c = freshCall()
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "type":
			if s.once(&f, 0) {
				c.Type = tolerant(s, ReadOnly, ParallWrite, SerialWrite)
			}
		case "security":
			if s.once(&f, 1) {
				c.Security = tolerant(s, DefaultDeny, RequireConfirm, Trusted)
			}
		case "id":
			if s.once(&f, 2) {
				c.ID = s.str()
			}
		case "name":
			if s.once(&f, 3) {
				c.Name = s.str()
			}
		case "arguments":
			if s.once(&f, 4) {
				c.Arguments = s.free(0)
			}
		case "extras":
			if s.once(&f, 5) {
				c.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	c.Unknown = s.rest(&f)
}

func freshCall() Call {
	return Call{Type: ReadOnly, Security: DefaultDeny, Arguments: EmptyObject().Value}
}

func freshContent() Content { return Content{Type: TypeText, Modality: ModalityText} }

func (s *scanner) result(r *Result) {
	r.Call, r.Output = freshCall(), freshContent()
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "query":
			if s.once(&f, 0) {
				s.nested(func() { s.call(&r.Call) })
			}
		case "output":
			if s.once(&f, 1) {
				s.nested(func() { s.content(&r.Output) })
			}
		case "extras":
			if s.once(&f, 2) {
				r.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	r.Unknown = s.rest(&f)
	if !s.record {
		s.required(&f, "query", "output")
	}
}

// DecodeInputContent reads the content of an incoming message (wire.md §3): a non-empty
// array of parts, each with a known type, a known modality, a non-empty raw and, if
// present, an extras object. Other members of a part are ignored. Errors are *DecodeError
// with the path inside the array.
func DecodeInputContent(raw []byte) ([]Content, error) {
	s := scanner{data: raw, limit: maxInputDepth}
	out := list(&s, (*scanner).inputPart)
	s.end()
	if s.err == nil && len(out) == 0 {
		s.pos = 0
		s.fail("must not be empty")
	}
	if s.err != nil {
		return nil, s.err
	}
	return out, nil
}

func (s *scanner) inputPart(c *Content) {
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "type":
			if s.once(&f, 0) {
				c.Type = strict(s, TypeText, TypeBinary, TypeExternalRef)
			}
		case "modality":
			if s.once(&f, 1) {
				c.Modality = s.modality()
			}
		case "raw":
			if s.once(&f, 2) {
				if c.Raw = s.str(); c.Raw == "" {
					s.fail("must not be empty")
				}
			}
		case "extras":
			if s.once(&f, 3) {
				c.Extras = s.freeObject()
			}
		default:
			s.keep(&f)
		}
	}
	_ = s.rest(&f) // duplicates are refused, the members are not kept
	s.required(&f, "type", "modality", "raw")
}
