package wire

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strings"
)

// ErrTooLarge is wrapped by the error of an encoder whose message passes its limit.
var ErrTooLarge = errors.New("message too large")

// ReplyError says why a one-shot message is not the one that was due. Its text names
// members only, never their values.
type ReplyError struct {
	Message string // confirmation_response and so on
	Problem string
	Err     error // the JSON error, if that is the problem
}

func (e *ReplyError) Error() string {
	if e.Err == nil {
		return e.Message + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s: %v", e.Message, e.Problem, e.Err)
}

func (e *ReplyError) Unwrap() error { return e.Err }

// ids are the four ids of a one-shot message with the name of the fourth.
type ids struct {
	worker, session, run, own string
	ownName                   string
}

func (x ids) list() [4][2]string {
	return [4][2]string{
		{"worker_id", x.worker},
		{"session_id", x.session},
		{"run_id", x.run},
		{x.ownName, x.own},
	}
}

// append writes the four ids as the first members of an object.
func (x ids) append(dst []byte) []byte {
	for i, id := range x.list() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), id[0]...), `":`...)
		dst = AppendString(dst, id[1])
	}
	return dst
}

// check fails unless f holds exactly these ids.
func (x ids) check(f fields) error {
	for _, id := range x.list() {
		got, ok := f.text(id[0])
		if !ok || got != id[1] {
			return errors.New(id[0] + " does not match")
		}
	}
	return nil
}

// complete fails on a blank id.
func (x ids) complete() error {
	for _, id := range x.list() {
		if strings.TrimSpace(id[1]) == "" {
			return errors.New(id[0] + " is blank")
		}
	}
	return nil
}

// readIDs takes the four ids of a request.
func readIDs(f fields, ownName string) (ids, error) {
	x := ids{ownName: ownName}
	x.worker, _ = f.text("worker_id")
	x.session, _ = f.text("session_id")
	x.run, _ = f.text("run_id")
	x.own, _ = f.text(ownName)
	return x, x.complete()
}

// readMessage opens `{"type":want,"data":{…}}`.
func readMessage(raw []byte, want string, limit int) (fields, error) {
	fail := func(problem string, err error) (fields, error) {
		return nil, &ReplyError{want, problem, err}
	}
	if len(raw) > limit {
		return fail("too large", ErrTooLarge)
	}
	outer, err := readFields(raw)
	if err != nil {
		return fail("invalid envelope", err)
	}
	if typ, _ := outer.text("type"); typ != want {
		return fail("wrong type", nil)
	}
	if outer["data"].Kind() != '{' {
		return fail("data is no object", nil)
	}
	data, err := readFields(outer["data"])
	if err != nil {
		return fail("invalid data", err)
	}
	return data, nil
}

// openMessage begins an envelope; closeMessage ends it and checks the size.
func openMessage(typ string, capacity int) []byte {
	dst := append(make([]byte, 0, capacity), `{"type":"`...)
	return append(append(dst, typ...), `","data":{`...)
}

func closeMessage(dst []byte, typ string, limit int) (jsontext.Value, error) {
	dst = append(dst, "}}"...)
	if len(dst) > limit {
		return nil, fmt.Errorf("%s of %d bytes, limit %d: %w", typ, len(dst), limit, ErrTooLarge)
	}
	return dst, nil
}
