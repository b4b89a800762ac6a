package record

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strconv"

	"simplex/manager/protocol"
)

// errMember: a member of a record has another type than it must have.
var errMember = errors.New("a member has another type")

// unmarshal reads the members of a record, null standing for none. It does without the
// reflection of encoding/json, whose set-up took longer than all else that inspect does.
func (r *Record) unmarshal(raw []byte) error {
	var unknown []byte
	err := eachMember(raw, func(name string, v jsontext.Value) (err error) {
		switch name {
		case "version":
			var n uint64
			n, err = integer(v)
			r.Version = int(n)
		case "allocation_id":
			err = text(v, &r.AllocationID)
		case "directory":
			err = text(v, &r.Directory)
		case "status":
			err = text(v, (*string)(&r.Status))
		case "nonce":
			err = text(v, &r.Nonce)
		case "revision":
			r.Revision, err = integer(v)
		case "root":
			r.Root, err = pointer(v, (*RootID).member)
		case "source":
			err = optional(v, &r.Source)
		case "overrides":
			r.Overrides, err = pointer(v, refreshMember)
		case "startup":
			r.Startup, err = pointer(v, (*Startup).member)
		case "fork_origin":
			r.ForkOrigin, err = pointer(v, sourceMember)
		case "fork_refresh":
			r.ForkRefresh, err = pointer(v, refreshMember)
		case "derived":
			r.Derived, err = pointer(v, (*Document).member)
		default:
			unknown, err = jsontext.AppendQuote(append(unknown, ','), name)
			unknown = append(append(unknown, ':'), v...)
		}
		return err
	})
	if unknown != nil {
		unknown[0] = '{'
		r.Unknown = append(unknown, '}')
	}
	return err
}

func (r *RootID) member(name string, v jsontext.Value) (err error) {
	switch name {
	case "dev":
		r.Dev, err = integer(v)
	case "ino":
		r.Ino, err = integer(v)
	case "born":
		r.Born, err = strconv.ParseInt(string(v), 10, 64)
	}
	return err
}

func (s *Startup) member(name string, v jsontext.Value) (err error) {
	switch name {
	case "lifecycle_id":
		err = text(v, &s.LifecycleID)
	case "revision":
		s.Revision, err = integer(v)
	case "effective_configuration":
		s.Effective = v.Clone()
	}
	return err
}

func (d *Document) member(name string, v jsontext.Value) (err error) {
	switch name {
	case "effective_configuration":
		d.Effective = v.Clone()
	case "backend":
		err = text(v, &d.Backend)
	case "state":
		err = text(v, &d.State)
	case "memory":
		err = text(v, &d.Memory)
	}
	return err
}

func refreshMember(r *protocol.Refresh, name string, v jsontext.Value) (err error) {
	switch name {
	case "client_endpoint":
		err = optional(v, &r.ClientEndpoint)
	case "confirmation_endpoint":
		err = optional(v, &r.ConfirmationEndpoint)
	case "tools_endpoint":
		err = optional(v, &r.ToolsEndpoint)
	}
	return err
}

func sourceMember(s *protocol.Source, name string, v jsontext.Value) (err error) {
	switch name {
	case "allocation_id":
		err = text(v, &s.AllocationID)
	case "directory":
		err = text(v, &s.Directory)
	case "lifecycle_id":
		err = text(v, &s.LifecycleID)
	case "revision":
		s.Revision, err = integer(v)
	}
	return err
}

// eachMember reads exactly one JSON object. The values are good until use returns.
func eachMember(raw []byte, use func(name string, v jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if dec.PeekKind() != '{' {
		return errMember
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := use(name, v); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errMember
	}
	return nil
}

// pointer reads an inner object, nil for null.
func pointer[T any](v jsontext.Value, member func(*T, string, jsontext.Value) error) (*T, error) {
	if v.Kind() == 'n' {
		return nil, nil
	}
	out := new(T)
	return out, eachMember(v, func(name string, v jsontext.Value) error { return member(out, name, v) })
}

func text(v jsontext.Value, into *string) error {
	if v.Kind() != '"' {
		return errMember
	}
	out, err := jsontext.AppendUnquote(nil, v)
	*into = string(out)
	return err
}

func optional(v jsontext.Value, into **string) error {
	if v.Kind() == 'n' {
		return nil
	}
	*into = new(string)
	return text(v, *into)
}

func integer(v jsontext.Value) (uint64, error) {
	return strconv.ParseUint(string(v), 10, 64)
}
