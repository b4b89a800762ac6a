package wire

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"

	"simplex/state"
)

const (
	confirmRequest  = "confirmation_request"
	confirmResponse = "confirmation_response"
)

// Decision is the outcome of a confirmation.
type Decision string

// The two decisions.
const (
	Approved Decision = "approved"
	Denied   Decision = "denied"
)

// DefaultReason stands in for the reason that a response may leave out.
const DefaultReason = "operator decision"

// ConfirmIDs correlate a confirmation; all four must be echoed byte for byte.
type ConfirmIDs struct{ WorkerID, SessionID, RunID, ConfirmationID string }

func (c ConfirmIDs) ids() ids {
	return ids{c.WorkerID, c.SessionID, c.RunID, c.ConfirmationID, "confirmation_id"}
}

// ConfirmRequest is a confirmation request as the Hub reads it.
type ConfirmRequest struct {
	ConfirmIDs
	Call     state.Object // the settled call, the authority for what is decided
	CallID   string       // its id and name, "" when missing
	CallName string
}

// ConfirmResponse is the answer to a confirmation request.
type ConfirmResponse struct {
	ConfirmIDs
	Decision Decision
	Reason   string
}

// EncodeConfirmRequest encodes the request for a settled call (wire.md §9). More than
// MaxConfirmRequest bytes is ErrTooLarge: the call is then denied without asking.
func EncodeConfirmRequest(ids ConfirmIDs, call state.Call) ([]byte, error) {
	raw, err := json.Marshal(call)
	if err != nil {
		return nil, fmt.Errorf("%s: call: %w", confirmRequest, err)
	}
	dst := openMessage(confirmRequest, len(raw)+512)
	dst = ids.ids().append(dst)
	dst = append(append(dst, `,"call":`...), raw...)
	return closeMessage(dst, confirmRequest, MaxConfirmRequest)
}

// DecodeConfirmRequest reads a request on the Hub's side. Every error is a *ReplyError.
func DecodeConfirmRequest(raw []byte) (ConfirmRequest, error) {
	var out ConfirmRequest
	f, err := readMessage(raw, confirmRequest, MaxConfirmRequest)
	if err != nil {
		return out, err
	}
	x, err := readIDs(f, "confirmation_id")
	if err != nil {
		return out, &ReplyError{Message: confirmRequest, Problem: err.Error()}
	}
	if max(len(x.worker), len(x.session), len(x.run), len(x.own)) > MaxID {
		return out, &ReplyError{Message: confirmRequest, Problem: "an id is too long"}
	}
	out.ConfirmIDs = ConfirmIDs{x.worker, x.session, x.run, x.own}
	var ok bool
	if out.Call, ok = f.object("call"); !ok {
		return out, &ReplyError{Message: confirmRequest, Problem: "call is no object"}
	}
	if out.CallID, err = callField(out.Call, "id"); err != nil {
		return out, err
	}
	out.CallName, err = callField(out.Call, "name")
	return out, err
}

func callField(call state.Object, name string) (string, error) {
	v, ok := call.Get(name)
	if !ok {
		return "", nil
	}
	s, ok := v.Text()
	if !ok || len(s) > MaxCallField {
		return "", &ReplyError{Message: confirmRequest, Problem: "call." + name + " is no string of at most 256 bytes"}
	}
	return s, nil
}

// EncodeConfirmResponse encodes the Hub's answer.
func EncodeConfirmResponse(r ConfirmResponse) ([]byte, error) {
	dst := openMessage(confirmResponse, 512)
	dst = r.ids().append(dst)
	dst = AppendString(append(dst, `,"decision":`...), string(r.Decision))
	dst = AppendString(append(dst, `,"reason":`...), r.Reason)
	return closeMessage(dst, confirmResponse, MaxConfirmReply)
}

// DecodeConfirmResponse reads the answer to the request with these ids. Every error is a
// *ReplyError and means denied; a missing reason becomes DefaultReason.
func DecodeConfirmResponse(raw []byte, want ConfirmIDs) (ConfirmResponse, error) {
	fail := func(problem string) (ConfirmResponse, error) {
		return ConfirmResponse{}, &ReplyError{Message: confirmResponse, Problem: problem}
	}
	f, err := readMessage(jsontext.Value(raw), confirmResponse, MaxConfirmReply)
	if err != nil {
		return ConfirmResponse{}, err
	}
	if err := want.ids().check(f); err != nil {
		return fail(err.Error())
	}
	decision, _ := f.text("decision")
	out := ConfirmResponse{ConfirmIDs: want, Decision: Decision(decision), Reason: DefaultReason}
	if out.Decision != Approved && out.Decision != Denied {
		return fail("decision is neither approved nor denied")
	}
	if f.has("reason") {
		var ok bool
		if out.Reason, ok = f.text("reason"); !ok {
			return fail("reason is no string")
		}
	}
	return out, nil
}
