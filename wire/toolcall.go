package wire

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strings"

	"simplex/state"
)

const (
	toolRequest  = "tool_request"
	toolResponse = "tool_response"
)

// Routes of remote tools (wire.md §10).
const (
	RoutePlanRead        = "plan/read"
	RoutePlanReplace     = "plan/replace"
	RouteSubagentFork    = "subagent/clean-fork"
	RouteSubagentSend    = "subagent/send"
	RouteSubagentReceive = "subagent/receive"
)

// ToolIDs correlate a remote call; all four must be echoed byte for byte.
type ToolIDs struct{ WorkerID, SessionID, RunID, RequestID string }

func (t ToolIDs) ids() ids {
	return ids{t.WorkerID, t.SessionID, t.RunID, t.RequestID, "request_id"}
}

// ToolRequest is one remote call.
type ToolRequest struct {
	ToolIDs
	Arguments state.Object // unset is written as {}
}

// ToolResponse answers a remote call: Rejected is nil when it succeeded, and Result is
// unset when it did not.
type ToolResponse struct {
	ToolIDs
	Route    string
	Result   state.Object
	Rejected *ToolRejection
}

// ToolRejection is the Hub's reason not to serve a call.
type ToolRejection struct{ Code, Message string }

// EncodeToolRequest encodes a call. A blank id is an error; more than MaxToolRequest
// bytes is ErrTooLarge.
func EncodeToolRequest(r ToolRequest) ([]byte, error) {
	if err := r.ids().complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", toolRequest, err)
	}
	dst := openMessage(toolRequest, len(r.Arguments.String())+512)
	dst = r.ids().append(dst)
	dst = appendObject(append(dst, `,"arguments":`...), r.Arguments)
	return closeMessage(dst, toolRequest, MaxToolRequest)
}

// DecodeToolRequest reads a call on the Hub's side. Every error is a *ReplyError.
func DecodeToolRequest(raw []byte) (ToolRequest, error) {
	f, err := readMessage(jsontext.Value(raw), toolRequest, MaxToolRequest)
	if err != nil {
		return ToolRequest{}, err
	}
	x, err := readIDs(f, "request_id")
	if err != nil {
		return ToolRequest{}, &ReplyError{Message: toolRequest, Problem: err.Error()}
	}
	arguments, ok := f.object("arguments")
	if !ok {
		return ToolRequest{}, &ReplyError{Message: toolRequest, Problem: "arguments is no object"}
	}
	return ToolRequest{ToolIDs{x.worker, x.session, x.run, x.own}, arguments}, nil
}

// EncodeToolResponse encodes the Hub's answer; more than MaxToolReply bytes is
// ErrTooLarge.
func EncodeToolResponse(r ToolResponse) ([]byte, error) {
	dst := openMessage(toolResponse, len(r.Result.String())+512)
	dst = r.ids().append(dst)
	dst = AppendString(append(dst, `,"route":`...), r.Route)
	if r.Rejected == nil {
		dst = appendObject(append(dst, `,"status":"succeeded","result":`...), r.Result)
	} else {
		dst = AppendString(append(dst, `,"status":"rejected","error":{"code":`...), r.Rejected.Code)
		dst = AppendString(append(dst, `,"message":`...), r.Rejected.Message)
		dst = append(dst, '}')
	}
	return closeMessage(dst, toolResponse, MaxToolReply)
}

// DecodeToolResponse reads the answer to the call with these ids on this route. Every
// error is a *ReplyError.
func DecodeToolResponse(raw []byte, want ToolIDs, route string) (ToolResponse, error) {
	f, err := readMessage(jsontext.Value(raw), toolResponse, MaxToolReply)
	if err != nil {
		return ToolResponse{}, err
	}
	out := ToolResponse{ToolIDs: want, Route: route}
	if err := out.read(f); err != nil {
		return ToolResponse{}, &ReplyError{Message: toolResponse, Problem: err.Error()}
	}
	return out, nil
}

func (r *ToolResponse) read(f fields) error {
	if err := r.ids().check(f); err != nil {
		return err
	}
	if route, ok := f.text("route"); !ok || route != r.Route {
		return errors.New("route does not match")
	}
	switch status, _ := f.text("status"); status {
	case "succeeded":
		if f.has("error") {
			return errors.New("a success has an error")
		}
		var ok bool
		if r.Result, ok = f.object("result"); !ok {
			return errors.New("result is no object")
		}
		return nil
	case "rejected":
		if f.has("result") {
			return errors.New("a rejection has a result")
		}
		return r.readRejection(f["error"])
	}
	return errors.New("status is neither succeeded nor rejected")
}

func (r *ToolResponse) readRejection(raw jsontext.Value) error {
	if raw.Kind() != '{' {
		return errors.New("error is no object")
	}
	f, err := readFields(raw)
	if err != nil {
		return err
	}
	code, okCode := f.text("code")
	message, okMessage := f.text("message")
	if !okCode || !okMessage || code == "" {
		return errors.New("error.code and error.message must be strings")
	}
	r.Rejected = &ToolRejection{code, message}
	return nil
}

func appendObject(dst []byte, o state.Object) []byte {
	if !o.IsSet() {
		return append(dst, "{}"...)
	}
	return append(dst, o.String()...)
}

// ValidRoute tells whether s is [a-z][a-z0-9_-]* segments joined by /.
func ValidRoute(s string) bool {
	for segment := range strings.SplitSeq(s, "/") {
		if segment == "" || segment[0] < 'a' || segment[0] > 'z' || strings.ContainsFunc(segment, notRouteChar) {
			return false
		}
	}
	return true
}

func notRouteChar(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-'
}
