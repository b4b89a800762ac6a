// Package sse splits a text/event-stream body into events by the rules of the HTML
// standard: LF, CR and CRLF, comments, several data lines, a byte order mark.
//
// It refuses lines and events above MaxLine. Invariant: memory is bounded by MaxLine
// whatever the server sends, and an event's bytes are valid until the next call only.
// More forgiving than the standard in one point: an event that the end of the body
// cuts off before its empty line is still given.
package sse
