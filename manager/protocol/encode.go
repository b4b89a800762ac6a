package protocol

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"strconv"
)

// Encode is the argument of --request for a valid request.
func (r *Request) Encode() (string, error) {
	raw, err := json.Marshal(struct {
		Version          int       `json:"version"`
		RequestID        string    `json:"request_id"`
		Operation        Operation `json:"operation"`
		AllocationID     string    `json:"allocation_id"`
		Directory        string    `json:"directory"`
		Configuration    *string   `json:"configuration,omitzero"`
		Refresh          *Refresh  `json:"refresh,omitzero"`
		ExpectedRevision *uint64   `json:"expected_revision,omitzero"`
		LifecycleID      *string   `json:"lifecycle_id,omitzero"`
		Source           *Source   `json:"source,omitzero"`
	}{
		Version, r.RequestID, r.Operation, r.AllocationID, r.Directory, r.Configuration,
		r.Refresh, r.ExpectedRevision, r.LifecycleID, r.Source,
	})
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// AppendResult appends the one line of a successful response. result is a JSON object.
func AppendResult(dst []byte, requestID string, result jsontext.Value) []byte {
	dst = appendHead(dst, requestID, true)
	dst = append(dst, `,"result":`...)
	dst = append(dst, result...)
	return append(dst, "}\n"...)
}

// WriteResult writes the one line of a successful response whose result, a JSON object on
// one line, is written by the callback. Where it fails, what was written is no response.
func WriteResult(w io.Writer, requestID string, result func(io.Writer) error) error {
	head := append(appendHead(nil, requestID, true), `,"result":`...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	if err := result(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "}\n")
	return err
}

// AppendError appends the one line of an unsuccessful response.
func AppendError(dst []byte, requestID string, e *Error) []byte {
	dst = appendHead(dst, requestID, false)
	dst = append(dst, `,"error":{"code":`...)
	dst = appendText(dst, string(e.Code))
	dst = append(dst, `,"message":`...)
	dst = appendText(dst, e.Message)
	if e.Published != nil {
		dst = append(dst, `,"published":`...)
		dst = strconv.AppendBool(dst, *e.Published)
	}
	return append(dst, "}}\n"...)
}

// appendHead writes the members that both kinds share; a request without a valid id is
// answered with null.
func appendHead(dst []byte, requestID string, ok bool) []byte {
	dst = append(dst, `{"version":1,"request_id":`...)
	if requestID == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendText(dst, requestID)
	}
	dst = append(dst, `,"ok":`...)
	return strconv.AppendBool(dst, ok)
}

// appendText quotes s; bytes that are no UTF-8 become U+FFFD.
func appendText(dst []byte, s string) []byte {
	raw, _ := json.Marshal(s, jsontext.AllowInvalidUTF8(true))
	return append(dst, raw...)
}
