package chat

import (
	"encoding/json/jsontext"
	"strconv"
)

// text reads a string; another kind is skipped and counts as "". last is given again
// when the string is the same, which spares a copy.
func (d *decoder) text(last string) (string, error) {
	if d.dec.PeekKind() != '"' {
		return "", d.dec.SkipValue()
	}
	raw, err := d.dec.ReadValue()
	if err != nil {
		return "", err
	}
	// Invalid UTF-8 becomes U+FFFD; the error that tells so is not wanted.
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw)
	if string(d.scratch) == last {
		return last, nil
	}
	return string(d.scratch), nil
}

// content reads a string, or the text parts of a list.
func (d *decoder) content() (string, error) {
	if d.dec.PeekKind() != '[' {
		return d.text("")
	}
	var out string
	err := d.elements(func() error {
		return d.members(func(name []byte) error {
			if string(name) != `"text"` {
				return d.dec.SkipValue()
			}
			text, err := d.text("")
			out += text
			return err
		})
	})
	return out, err
}

// integer reads a small number; anything else is -1.
func (d *decoder) integer() (int, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return -1, err
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return -1, nil
	}
	return n, nil
}

// raw reads any value but null into dst's memory.
func (d *decoder) raw(dst jsontext.Value) (jsontext.Value, error) {
	if d.dec.PeekKind() == 'n' {
		return nil, d.dec.SkipValue()
	}
	v, err := d.dec.ReadValue()
	return append(dst[:0], v...), err
}
