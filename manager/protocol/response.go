package protocol

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
)

// ErrResponse: the bytes are not one response to this request. What the other end did
// is then unknown.
var ErrResponse = errors.New("not a response of simplex manage")

// DecodeResponse reads the whole standard output of one call. A response that answers
// requestID (or, for a failure, no request at all) gives its result, a JSON object, or
// as err the peer's *Error. Anything else is ErrResponse; its text quotes nothing.
// Unknown members are allowed: a later version may add some.
func DecodeResponse(raw []byte, requestID string) (jsontext.Value, error) {
	m, err := readObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrResponse, err)
	}
	if version, ok := integer(m["version"]); !ok || version != "1" {
		return nil, fmt.Errorf("%w: version is not 1", ErrResponse)
	}
	okay := m["ok"].Kind()
	id, named := text(m["request_id"])
	if id != requestID && (named || okay == 't') || !named && m["request_id"].Kind() != 'n' {
		return nil, fmt.Errorf("%w: it answers another request", ErrResponse)
	}
	switch {
	case okay == 't' && m["result"].Kind() == '{' && m["error"] == nil:
		return m["result"], nil
	case okay == 'f' && m["error"] != nil && m["result"] == nil:
		return nil, decodeError(m["error"])
	}
	return nil, fmt.Errorf("%w: it has neither a result nor an error", ErrResponse)
}

func decodeError(v jsontext.Value) error {
	m, err := object(v)
	if err != nil {
		return fmt.Errorf("%w: error: %w", ErrResponse, err)
	}
	code, ok := text(m["code"])
	message, also := text(m["message"])
	if !ok || !also || code == "" {
		return fmt.Errorf("%w: error: code or message is missing", ErrResponse)
	}
	e := &Error{Code: Code(code), Message: message}
	if p, there := m["published"]; there {
		if p.Kind() != 't' && p.Kind() != 'f' {
			return fmt.Errorf("%w: error: published is not a boolean", ErrResponse)
		}
		e.Published = new(p.Kind() == 't')
	}
	return e
}
