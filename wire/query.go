package wire

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strconv"
)

// Query is a valid history or answer request; exactly one of the two is set.
type Query struct {
	RequestID string
	History   *HistoryRequest
	Answer    *AnswerRequest
}

// HistoryRequest asks for up to Limit turns from turn Start, step Step on.
type HistoryRequest struct {
	Start, Step uint64
	Limit       int // 1..HistoryLimit
}

// AnswerRequest asks for a page of one part of an answer, from byte Offset on.
type AnswerRequest struct {
	Source AnswerSource
	Part   uint64
	Offset uint64
}

// DecodeQuery validates the data of a history or answer payload. The result is either a
// query or the data of history_error or answer_error.
func DecodeQuery(data jsontext.Value) (*Query, *QueryFailed) {
	f, err := readFields(data)
	if err != nil {
		return nil, NewQueryFailed("", nil, "payload: "+err.Error(), "")
	}
	op, _ := f.text("operation")
	q, err := decodeQuery(f, Operation(op))
	if err != nil {
		return nil, NewQueryFailed(Operation(op), f["request_id"], err.Error(), "")
	}
	return q, nil
}

func decodeQuery(f fields, op Operation) (*Query, error) {
	if !op.IsQuery() {
		return nil, errors.New("operation: must be history or answer")
	}
	id, err := readRequestID(f)
	if err != nil {
		return nil, err
	}
	q := &Query{RequestID: id}
	if op == OpHistory {
		q.History, err = readHistoryRequest(f)
	} else {
		q.Answer, err = readAnswerRequest(f)
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

func readHistoryRequest(f fields) (*HistoryRequest, error) {
	err := refuse(f, "content", "options", "text", "role", "invokes", "invoke_return", "type")
	if err != nil {
		return nil, err
	}
	h := &HistoryRequest{Limit: HistoryLimit}
	if h.Start, err = optionalCount(f, "start"); err != nil {
		return nil, err
	}
	if h.Step, err = optionalCount(f, "step"); err != nil {
		return nil, err
	}
	if f.has("limit") {
		n, ok := count(f["limit"])
		if !ok || n < 1 || n > HistoryLimit {
			return nil, fmt.Errorf("limit: must be an integer from 1 to %d", HistoryLimit)
		}
		h.Limit = int(n)
	}
	return h, nil
}

func readAnswerRequest(f fields) (*AnswerRequest, error) {
	if err := onlyKeys(f, "operation", "request_id", "source", "part", "offset"); err != nil {
		return nil, err
	}
	source, err := ParseAnswerSource(f["source"])
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	a := &AnswerRequest{Source: source}
	if a.Part, err = requiredCount(f, "part"); err != nil {
		return nil, err
	}
	if a.Offset, err = requiredCount(f, "offset"); err != nil {
		return nil, err
	}
	return a, nil
}

func optionalCount(f fields, name string) (uint64, error) {
	if !f.has(name) {
		return 0, nil
	}
	return requiredCount(f, name)
}

func requiredCount(f fields, name string) (uint64, error) {
	n, ok := count(f[name])
	if !ok {
		return 0, fmt.Errorf("%s: must be an integer from 0 to %d", name, int64(MaxAnswerInteger))
	}
	return n, nil
}

// count reads a plain decimal integer in 0..MaxAnswerInteger.
func count(v jsontext.Value) (uint64, bool) {
	if len(v) == 0 || v.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v), 10, 64)
	return n, err == nil && n <= MaxAnswerInteger
}
