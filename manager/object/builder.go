package object

import (
	"encoding/json/jsontext"
	"strconv"
)

// Builder puts one JSON object together. The zero value is an object without members.
// It is for one goroutine.
type Builder struct {
	buf []byte
	err error // the first one
}

func (b *Builder) name(name string) {
	c := byte(',')
	if b.buf == nil {
		c = '{'
	}
	b.buf = append(append(append(b.buf, c, '"'), name...), '"', ':')
}

// Raw adds a member that is JSON on one line already.
func (b *Builder) Raw(name string, value []byte) {
	b.name(name)
	b.buf = append(b.buf, value...)
}

// Text adds a string. One that is not UTF-8 makes the object fail.
func (b *Builder) Text(name, value string) {
	b.name(name)
	var err error
	if b.buf, err = jsontext.AppendQuote(b.buf, value); err != nil && b.err == nil {
		b.err = err
	}
}

// Object ends an inner object and adds it.
func (b *Builder) Object(name string, in Builder) {
	value, err := in.Bytes()
	if err != nil && b.err == nil {
		b.err = err
	}
	b.Raw(name, value)
}

// Integer adds a number.
func (b *Builder) Integer(name string, n uint64) {
	b.name(name)
	b.buf = strconv.AppendUint(b.buf, n, 10)
}

// Open gives the object without its closing brace, for whoever adds the last members by
// hand, and the first error. Nothing may be added to the Builder after it.
func (b *Builder) Open() ([]byte, error) {
	if b.buf == nil {
		return []byte("{"), b.err
	}
	return b.buf, b.err
}

// Bytes gives the whole object and the first error. Nothing may be added to the Builder
// after it.
func (b *Builder) Bytes() ([]byte, error) {
	raw, err := b.Open()
	return append(raw, '}'), err
}
