package manager

import (
	"encoding/json/jsontext"
	"strconv"

	"simplex/manager/protocol"
)

// builder puts a JSON object together member by member.
type builder struct {
	buf []byte
	err error // the first one
}

func (b *builder) name(name string) {
	c := byte(',')
	if b.buf == nil {
		c = '{'
	}
	b.buf = append(append(append(b.buf, c, '"'), name...), '"', ':')
}

// raw adds a member that is JSON on one line already.
func (b *builder) raw(name string, value []byte) {
	b.name(name)
	b.buf = append(b.buf, value...)
}

func (b *builder) text(name, value string) {
	b.name(name)
	var err error
	if b.buf, err = jsontext.AppendQuote(b.buf, value); err != nil && b.err == nil {
		b.err = err
	}
}

// object ends an inner object and adds it.
func (b *builder) object(name string, in builder) {
	if in.buf == nil {
		in.buf = []byte("{")
	}
	if in.err != nil && b.err == nil {
		b.err = in.err
	}
	b.raw(name, append(in.buf, '}'))
}

func (b *builder) integer(name string, n uint64) {
	b.name(name)
	b.buf = strconv.AppendUint(b.buf, n, 10)
}

func (b *builder) refresh(name string, r protocol.Refresh) {
	var in builder
	for _, o := range []struct {
		name string
		url  *string
	}{
		{"client_endpoint", r.ClientEndpoint}, {"confirmation_endpoint", r.ConfirmationEndpoint}, {"tools_endpoint", r.ToolsEndpoint},
	} {
		if o.url != nil {
			in.text(o.name, *o.url)
		}
	}
	b.object(name, in)
}

// origin adds where a fork came from, null for none.
func (b *builder) origin(s *protocol.Source) {
	if s == nil {
		b.raw("fork_origin", []byte("null"))
		return
	}
	var in builder
	in.text("allocation_id", s.AllocationID)
	in.text("directory", s.Directory)
	in.text("lifecycle_id", s.LifecycleID)
	in.integer("revision", s.Revision)
	b.object("fork_origin", in)
}

// startup adds the capture, null before the first one.
func (b *builder) startup(s *startup) {
	if s == nil {
		b.raw("startup", []byte("null"))
		return
	}
	var in builder
	in.text("lifecycle_id", s.LifecycleID)
	in.integer("revision", s.Revision)
	in.raw("effective_configuration", s.Effective)
	b.object("startup", in)
}

func (b *builder) result() (*Result, error) {
	return &Result{object: append(b.buf, '}')}, b.err
}
