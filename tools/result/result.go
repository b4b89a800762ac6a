package result

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strconv"
	"strings"

	"simplex/state"
)

// Text is a result under construction: a sequence of records. The zero value is
// ready; it belongs to one goroutine.
type Text struct{ records []*Record }

// Record begins the next record. One that stays empty is not shown, and so makes no
// separator.
func (t *Text) Record() *Record {
	r := &Record{}
	t.records = append(t.records, r)
	return r
}

// Record is an ordered list of fields and, shown after them, of blocks.
type Record struct {
	fields []byte // rendered lines
	blocks []block
}

// block is one header and the body under it.
type block struct{ header, body string }

func (r *Record) field(name, value string) {
	r.fields = append(r.fields, "[["...)
	r.fields = append(r.fields, name...)
	r.fields = append(r.fields, "]]: "...)
	r.fields = append(r.fields, value...)
	r.fields = append(r.fields, '\n')
}

// String adds a text field, unless the text is empty. With a control character in it
// the text is shown as a JSON string.
func (r *Record) String(name, value string) {
	if value == "" {
		return
	}
	value = strings.ToValidUTF8(value, "\uFFFD")
	if strings.ContainsFunc(value, func(c rune) bool { return c < 0x20 || c == 0x7F }) {
		quoted, _ := jsontext.AppendQuote(nil, value)
		value = string(quoted)
	}
	r.field(name, value)
}

// Bool adds a field that is true or false; false is shown too.
func (r *Record) Bool(name string, value bool) { r.field(name, strconv.FormatBool(value)) }

// Int adds a number; 0 is shown too.
func (r *Record) Int(name string, value int64) { r.field(name, strconv.FormatInt(value, 10)) }

// Uint adds a number; 0 is shown too.
func (r *Record) Uint(name string, value uint64) { r.field(name, strconv.FormatUint(value, 10)) }

// Strings adds a list as compact JSON, unless it is empty.
func (r *Record) Strings(name string, list []string) {
	if len(list) == 0 {
		return
	}
	raw, err := json.Marshal(list, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		r.field(name, string(raw))
	}
}

// Value adds any JSON value: a string as String does, the rest compact. null and
// what is empty are left out.
func (r *Record) Value(name string, v state.Value) {
	if s, ok := v.Text(); ok {
		r.String(name, s)
		return
	}
	if v.IsNull() || v.String() == "[]" || v.String() == "{}" {
		return
	}
	r.field(name, v.String())
}

// Literal adds a field whose text stands as it is, even where the general rule would
// leave it out, such as null.
func (r *Record) Literal(name, text string) { r.field(name, text) }

// Block adds output that is shown whole.
func (r *Record) Block(name, body string) {
	r.block(name, body, "", "")
}

// CutBlock adds output of which only the beginning is left.
func (r *Record) CutBlock(name, body string) {
	r.block(name, body, "truncated, first ", ", truncated")
}

// TailBlock adds the last bytes of output whose middle is lost; an empty one is not
// shown.
func (r *Record) TailBlock(name, body string) {
	if body != "" {
		r.block(name, body, "last ", "")
	}
}

func (r *Record) block(name, body, which, emptyNote string) {
	if body == "" {
		r.blocks = append(r.blocks, block{header: name + ": (empty" + emptyNote + ")\n"})
		return
	}
	header := name + " (" + which + strconv.Itoa(len(body)) + " bytes):\n"
	r.blocks = append(r.blocks, block{header, body})
}

func (r *Record) empty() bool { return len(r.fields) == 0 && len(r.blocks) == 0 }

func (r *Record) size() int {
	n := len(r.fields) + 8
	for _, b := range r.blocks {
		n += len(b.header) + len(b.body) + 2
	}
	return n
}

func (r *Record) render(out *strings.Builder) {
	out.Write(r.fields)
	for i, b := range r.blocks {
		if i > 0 || len(r.fields) > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(b.header)
		out.WriteString(b.body)
		if b.body != "" && !strings.HasSuffix(b.body, "\n") {
			out.WriteByte('\n')
		}
	}
}

// String renders the whole text.
func (t *Text) String() string {
	var out strings.Builder
	size := 0
	for _, r := range t.records {
		size += r.size()
	}
	out.Grow(size)
	for _, r := range t.records {
		if r.empty() {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n---\n\n")
		}
		r.render(&out)
	}
	return out.String()
}

// Content is the text as one content part.
func (t *Text) Content() state.Content {
	return state.Content{
		Type:     state.TypeText,
		Modality: state.ModalityText,
		Raw:      strings.ToValidUTF8(t.String(), "\uFFFD"),
	}
}
