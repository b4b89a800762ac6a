package client

import (
	"encoding/json/jsontext"
	"math"
	"strconv"
)

// message is one JSON-RPC message of the server.
type message struct {
	id       jsontext.Value // a string or a number; nil is absent or null
	called   bool           // it has a method: it is a request, or a notification
	method   string
	result   jsontext.Value // nil is absent
	err      *Error         // nil is absent or null
	revision string         // of JSON-RPC
}

// wantsAnswer tells a request from a notification and a response.
func (m *message) wantsAnswer() bool { return m.called && m.id != nil }

// number is the id as a number of ours, which are positive integers; 0 is none of them.
func (m *message) number() int64 {
	if n, err := strconv.ParseInt(string(m.id), 10, 64); err == nil {
		return n
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(string(m.id), 64) // as some servers echo it: 7.0
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		return 0
	}
	return int64(f)
}

// check tells whether the members make a message at all.
func (m *message) check() error {
	switch {
	case m.revision != "2.0":
		return notMessage("a message that is not JSON-RPC 2.0")
	case !m.called && m.id == nil && m.err == nil: // an error without id answers what could not be read
		return notMessage("a message that is neither a request nor an answer to one")
	}
	return nil
}
