package protocol

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Decode reads the argument of --request. On failure the request holds what identifies
// it as far as that is known: its RequestID is "" unless a valid one was read from
// well-formed JSON.
func Decode(argument string) (*Request, *Error) {
	req := &Request{}
	raw, err := decodeBase64(argument)
	if err != nil {
		return req, invalid("request: " + err.Error())
	}
	members, err := readObject(raw)
	if err != nil {
		return req, invalid("request: " + err.Error())
	}
	if id, ok := text(members["request_id"]); ok && ValidID(id) {
		req.RequestID = id
	}
	return req, req.read(members)
}

func invalid(message string) *Error { return NewError(InvalidRequest, message) }

// decodeBase64 takes the standard alphabet with padding only. The package of the
// standard library skips line ends, so they are refused first.
func decodeBase64(s string) ([]byte, error) {
	if s == "" {
		return nil, errors.New("empty")
	}
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("not padded standard base64")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, errors.New("not padded standard base64")
	}
	return raw, nil
}

// readObject reads exactly one JSON object. Members are checked to any depth.
func readObject(raw []byte) (map[string]jsontext.Value, error) {
	if bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) {
		return nil, errors.New("a byte order mark is not allowed")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return nil, errors.New("not a JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, badJSON(dec, err)
	}
	members := make(map[string]jsontext.Value)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, badJSON(dec, err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, badJSON(dec, err)
		}
		members[key] = value.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, badJSON(dec, err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the JSON object")
	}
	return members, nil
}

// badJSON tells where, never what: the text may hold a secret.
func badJSON(dec *jsontext.Decoder, err error) error {
	problem := "invalid JSON"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		problem = "a member is there twice"
	}
	return errors.New(problem + " at byte " + strconv.FormatInt(dec.InputOffset(), 10))
}

// read fills the request from its members. Version and operation come first, so that a
// newer peer learns what it needs to know.
func (r *Request) read(m map[string]jsontext.Value) *Error {
	version, ok := integer(m["version"])
	if !ok {
		return invalid("version: must be an integer")
	}
	if version != "1" {
		return NewError(UnsupportedVersion, "version: only 1 is supported")
	}
	for _, name := range []string{"request_id", "operation", "allocation_id", "directory"} {
		if _, ok := text(m[name]); !ok {
			return invalid(name + ": must be a string")
		}
	}
	if r.RequestID == "" {
		return invalid("request_id: must be 1 to 128 of A-Z a-z 0-9 _ -")
	}
	op, _ := text(m["operation"])
	r.Operation = Operation(op)
	may, must, known := allowed(r.Operation)
	if !known {
		return NewError(UnsupportedOperation, "operation: not known")
	}
	r.AllocationID, _ = text(m["allocation_id"])
	r.Directory, _ = text(m["directory"])
	if !ValidID(r.AllocationID) {
		return invalid("allocation_id: must be 1 to 128 of A-Z a-z 0-9 _ -")
	}
	if problem := CheckDirectory(r.Directory, r.AllocationID); problem != "" {
		return invalid("directory: " + problem)
	}
	if problem := members(m, append([]string{"version", "request_id", "operation", "allocation_id", "directory"}, may...), must); problem != "" {
		return invalid(problem)
	}
	return r.readOwn(m)
}

// readOwn reads the members that only some operations have.
func (r *Request) readOwn(m map[string]jsontext.Value) *Error {
	if v, ok := m["configuration"]; ok {
		s, ok := text(v)
		if !ok {
			return invalid("configuration: must be a string")
		}
		r.Configuration = &s
	}
	if v, ok := m["lifecycle_id"]; ok {
		s, _ := text(v)
		if !ValidID(s) {
			return invalid("lifecycle_id: must be 1 to 128 of A-Z a-z 0-9 _ -")
		}
		r.LifecycleID = &s
	}
	if v, ok := m["expected_revision"]; ok {
		n, ok := revision(v)
		if !ok {
			return invalid("expected_revision: must be an integer from 0 to 18446744073709551615")
		}
		r.ExpectedRevision = &n
	}
	if v, ok := m["refresh"]; ok {
		if err := r.readRefresh(v); err != nil {
			return err
		}
	}
	if v, ok := m["source"]; ok {
		return r.readSource(v)
	}
	return nil
}

func (r *Request) readRefresh(v jsontext.Value) *Error {
	m, err := object(v)
	if err != nil {
		return invalid("refresh: " + err.Error())
	}
	if problem := members(m, []string{"client_endpoint", "confirmation_endpoint", "tools_endpoint"}, nil); problem != "" {
		return invalid("refresh: " + problem)
	}
	r.Refresh = &Refresh{}
	for name, into := range map[string]**string{
		"client_endpoint":       &r.Refresh.ClientEndpoint,
		"confirmation_endpoint": &r.Refresh.ConfirmationEndpoint,
		"tools_endpoint":        &r.Refresh.ToolsEndpoint,
	} {
		value, ok := m[name]
		if !ok {
			continue
		}
		s, ok := text(value)
		if !ok {
			return invalid("refresh." + name + ": must be a string")
		}
		*into = &s
	}
	return nil
}

func (r *Request) readSource(v jsontext.Value) *Error {
	m, err := object(v)
	if err != nil {
		return invalid("source: " + err.Error())
	}
	if problem := members(m, nil, []string{"allocation_id", "directory", "lifecycle_id", "revision"}); problem != "" {
		return invalid("source: " + problem)
	}
	s := &Source{}
	var ok bool
	s.AllocationID, _ = text(m["allocation_id"])
	s.LifecycleID, _ = text(m["lifecycle_id"])
	s.Directory, _ = text(m["directory"])
	if !ValidID(s.AllocationID) {
		return invalid("source.allocation_id: must be 1 to 128 of A-Z a-z 0-9 _ -")
	}
	if !ValidID(s.LifecycleID) {
		return invalid("source.lifecycle_id: must be 1 to 128 of A-Z a-z 0-9 _ -")
	}
	if problem := CheckDirectory(s.Directory, s.AllocationID); problem != "" {
		return invalid("source.directory: " + problem)
	}
	if s.Revision, ok = revision(m["revision"]); !ok {
		return invalid("source.revision: must be an integer from 0 to 18446744073709551615")
	}
	if s.AllocationID == r.AllocationID && s.Directory == r.Directory {
		return invalid("source: an allocation cannot be forked onto itself")
	}
	r.Source = s
	return nil
}
