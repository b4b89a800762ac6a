// Package protocol owns the request and the response of `simplex manage` and their one
// strict codec, which both ends use (manager.md, "Envelope").
//
// It refuses everything that is not exactly one well-formed request: another base64
// form, white space inside it, bytes that are no UTF-8, lone surrogates, duplicate or
// unknown members, null members, members of another operation, numbers that are no
// integers, identifiers and directories that are not in normal form.
//
// Invariants: an error never quotes a value, so no secret can leave through it; a
// response is one JSON object on one line; decode∘encode is the identity on valid
// requests. It does no I/O and imports no package of ours.
package protocol
