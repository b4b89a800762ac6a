package hubcall

import (
	"errors"
	"fmt"

	"simplex/intercom"
	"simplex/internal/text"
	"simplex/tools"
	"simplex/wire"
)

// failed is a failure in our own words. What the transport says is not shown, as it
// names the address.
func failed(format string, args ...any) error {
	return &tools.Failure{Message: fmt.Sprintf(format, args...)}
}

// unsent: the request could not be made, so nothing happened.
func (r route) unsent(err error) error {
	if errors.Is(err, wire.ErrTooLarge) {
		return failed("the request is larger than %d bytes; nothing was sent", wire.MaxToolRequest)
	}
	return failed("this worker has no complete identity for a call to the Hub; nothing was sent")
}

// unanswered: the transport failed.
func (r route) unanswered(err error) error {
	var what string
	dial, dialled := errors.AsType[*intercom.DialError](err)
	gone, _ := errors.AsType[*intercom.DisconnectError](err)
	switch {
	case errors.Is(err, intercom.ErrTimedOut):
		what = "the Hub did not answer in time"
	case errors.Is(err, intercom.ErrTooLarge):
		what = fmt.Sprintf("the Hub's answer is larger than %d bytes", wire.MaxToolReply)
	case errors.Is(err, intercom.ErrBinary):
		what = "the Hub answered with a binary message"
	case dialled && dial.Status != 0:
		return failed("the Hub refused the connection with status %d; nothing was sent", dial.Status)
	case dialled:
		return failed("the Hub cannot be reached (%s); nothing was sent", dial.Step)
	case gone != nil && gone.Code != 0:
		what = fmt.Sprintf("the Hub closed the connection without an answer (code %d)", gone.Code)
	default:
		what = "the connection to the Hub ended without an answer"
	}
	return r.uncertain(what)
}

// unusable: an answer came that is not the one that was due.
func (r route) unusable(err error) error {
	problem := "it cannot be read"
	if re, ok := errors.AsType[*wire.ReplyError](err); ok {
		problem = re.Problem // names members only
	}
	if se, ok := errors.AsType[*shapeError](err); ok {
		problem = se.Error()
	}
	return r.uncertain("the Hub's answer is not usable: " + problem)
}

// uncertain adds what the failure means.
func (r route) uncertain(what string) error {
	if r.mutates {
		return failed("%s. The change may have been made all the same: %s", what, r.lookup)
	}
	return failed("%s; nothing was changed, and you may ask again", what)
}

// otherCode stands for every code that is not known.
const otherCode = "remote_rejection"

// rejected: the Hub would not do it.
func (r route) rejected(why wire.ToolRejection) error {
	code := why.Code
	hint, known := hintFor(code)
	if !known {
		code = otherCode
	}
	if !r.quotes {
		return failed("the Hub refused (%s): %s", code, hint)
	}
	const most = 512
	message := text.Display(text.Prefix(why.Message, most))
	if message == "" {
		message = hint
	}
	return failed("the Hub refused (%s): %s", code, message)
}

// hintFor words a rejection code, and tells whether it is a known one.
func hintFor(code string) (hint string, known bool) {
	switch code {
	case "unauthorized":
		return "it does not take this run for the session's current one", true
	case "invalid_arguments":
		return "the arguments are not ones it takes; check ids, operation and content", true
	case "policy_forbidden":
		return "its policy does not allow that for this subagent", true
	case "unsupported_launch":
		return "this session was started in a way that allows no subagents", true
	case "unsupported_operation":
		return "the subagent does not know this operation", true
	case "lifecycle_closed":
		return "the subagent is ending or gone; fork another one if you need it", true
	case "disconnected":
		return "the subagent is not connected now; look with subagent_receive until it is", true
	case "limit_exceeded":
		return "there are too many subagents, or they are nested too deep; stop those you no longer need", true
	case "request_conflict":
		return "the same request was made before with other arguments", true
	case "recovery_required":
		return "an operator must repair the Hub's records first; go on without subagents", true
	case "delivery_unknown":
		return "it is not known whether the subagent got it; look with subagent_receive before you try again", true
	case "storage_error":
		return "it could not store or read its records; look with subagent_receive whether anything changed", true
	case "answer_unavailable":
		return "this answer is not there any more; take a new answer_source from subagent_receive", true
	case "result_too_large":
		return "the answer is too large; ask with a smaller limit, or for answer pages", true
	case "not_implemented":
		return "this Hub does not have that function", true
	case "invalid_parent":
		return "the subagent is not one of this session's", true
	}
	return "the reason is not known here", false
}
