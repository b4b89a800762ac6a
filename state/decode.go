package state

import (
	"bytes"
	"math"
)

// Decode reads a state document (worker-data.md §1): shape check, types, enum and content
// tolerance in one pass. A UTF-8 byte-order mark is skipped. Errors are *DecodeError.
// It does not check the structure rules: see Check.
func Decode(raw []byte) (*State, error) {
	s := scanner{data: bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), limit: maxDocumentDepth}
	st := &State{}
	s.state(st)
	s.end()
	if s.err != nil {
		s.err.Offset += len(raw) - len(s.data)
		return nil, s.err
	}
	return st, nil
}

func (s *scanner) state(st *State) {
	st.Meta = freshMeta()
	st.SystemPrompt = SystemPrompt{HeadingLevel: defaultHeadingLevel}
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "meta":
			if s.once(&f, 0) {
				s.meta(&st.Meta)
			}
		case "system_prompt":
			if s.once(&f, 1) {
				s.prompt(&st.SystemPrompt)
			}
		case "tools":
			if s.once(&f, 2) {
				st.Tools = list(s, (*scanner).tool)
			}
		case "turns":
			if s.once(&f, 3) {
				st.Turns = pointers(s, (*scanner).turn)
			}
		case "extras":
			if s.once(&f, 4) {
				st.Extras = s.optionalObject()
			}
		case "loop":
			if s.once(&f, 5) && !s.null() {
				st.Loop = &LoopProgress{}
				s.loop(st.Loop)
			}
		default:
			s.keep(&f)
		}
	}
	st.Unknown = s.rest(&f)
	if !s.record {
		s.required(&f, "meta", "system_prompt", "tools", "turns")
	}
}

// required reports the first of names, which have the bits 0, 1, …, that did not come.
func (s *scanner) required(f *fields, names ...string) {
	for bit, name := range names {
		if s.err == nil && !f.has(uint(bit)) {
			s.fail("is missing")
			s.err.within([]byte(name))
		}
	}
}

func freshMeta() Meta { return Meta{SchemaVersion: 1, Status: SessionActive} }

func (s *scanner) meta(m *Meta) {
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "schema_version":
			if s.once(&f, 0) {
				m.SchemaVersion = uint32(s.uint(math.MaxUint32))
			}
		case "session_id":
			if s.once(&f, 1) {
				m.SessionID = s.str()
			}
		case "created_at":
			if s.once(&f, 2) {
				m.CreatedAt = s.str()
			}
		case "updated_at":
			if s.once(&f, 3) {
				m.UpdatedAt = s.str()
			}
		case "status":
			if s.once(&f, 4) {
				m.Status = tolerant(s, SessionActive, SessionCompleted, SessionFailed)
			}
		case "error":
			if s.once(&f, 5) {
				m.Error = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	m.Unknown = s.rest(&f)
}

func (s *scanner) prompt(p *SystemPrompt) {
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "heading_level":
			if s.once(&f, 0) {
				p.HeadingLevel = s.int()
			}
		case "sections":
			if s.once(&f, 1) && !s.null() {
				s.sections(p)
			}
		default:
			s.keep(&f)
		}
	}
	p.Unknown = s.rest(&f)
}

func (s *scanner) sections(p *SystemPrompt) {
	var a items
	for s.array(&a); s.item(&a); {
		var sec Section
		if s.section(&sec); s.err != nil {
			continue
		}
		if err := p.Add(sec); err != nil {
			s.fail(err.Error())
		}
	}
}

func (s *scanner) section(sec *Section) {
	sec.Stability = Immutable
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "name":
			if s.once(&f, 0) {
				sec.Name = s.str()
			}
		case "title":
			if s.once(&f, 1) {
				sec.Title = s.str()
			}
		case "stability":
			if s.once(&f, 2) {
				sec.Stability = tolerant(s, Immutable, Growing, Volatile)
			}
		case "text":
			if s.once(&f, 3) {
				sec.Text = s.str()
			}
		default:
			s.keep(&f)
		}
	}
	sec.Unknown = s.rest(&f)
}

func (s *scanner) tool(t *Tool) {
	t.ArgumentSchema = EmptyObject()
	var f fields
	for s.object(&f); s.next(&f); {
		switch string(f.key) {
		case "name":
			if s.once(&f, 0) {
				t.Name = s.str()
			}
		case "description":
			if s.once(&f, 1) {
				t.Description = s.str()
			}
		case "argument_schema":
			if s.once(&f, 2) {
				t.ArgumentSchema = s.freeObject()
			}
		case "remote_type":
			if s.once(&f, 3) && !s.null() {
				text := s.str()
				t.RemoteType = &text
			}
		case "extras":
			if s.once(&f, 4) {
				t.Extras = s.optionalObject()
			}
		default:
			s.keep(&f)
		}
	}
	t.Unknown = s.rest(&f)
}

// freeObject reads a free-form value that must be an object.
func (s *scanner) freeObject() Object {
	if s.err == nil && s.peek() != '{' {
		s.want("an object")
	}
	return Object{s.free(0)}
}

// optionalObject is freeObject, or unset for null.
func (s *scanner) optionalObject() Object {
	if s.null() {
		return Object{}
	}
	return s.freeObject()
}

// list reads an array of records; it is empty but not nil for [].
func list[T any](s *scanner, read func(*scanner, *T)) []T {
	out := []T{}
	var a items
	for s.array(&a); s.item(&a); {
		var zero T
		out = append(out, zero)
		read(s, &out[len(out)-1])
	}
	return out
}

// pointers is list for records that are kept by pointer.
func pointers[T any](s *scanner, read func(*scanner, *T)) []*T {
	out := []*T{}
	var a items
	for s.array(&a); s.item(&a); {
		rec := new(T)
		read(s, rec)
		out = append(out, rec)
	}
	return out
}

// tolerant reads an enum whose unknown spellings, and other types, mean its first value.
func tolerant[E ~string](s *scanner, known ...E) E {
	if s.err == nil && s.peek() != '"' {
		s.out = s.out[:0]
		s.value(0)
		return known[0]
	}
	return enum(s, known[0], known)
}

// strict reads an enum whose unknown spellings are errors.
func strict[E ~string](s *scanner, known ...E) E {
	if s.err == nil && s.peek() != '"' {
		s.want("a string")
	}
	start := s.pos
	e := enum(s, "", known)
	if s.err == nil && e == "" {
		s.pos = start
		s.fail("has an unknown value")
	}
	return e
}

// enum gives the known constant, so that no spelling is allocated twice.
func enum[E ~string](s *scanner, fallback E, known []E) E {
	if s.err != nil {
		return fallback
	}
	content, _ := s.text()
	for _, k := range known {
		if string(content) == string(k) {
			return k
		}
	}
	return fallback
}
