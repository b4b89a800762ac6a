// Package lines knows where lines end (contract tools.md §3.2), for every tool that
// numbers them: what one tool calls line 12 is line 12 for the others.
//
// Terminators are LF, CRLF (one), CR, VT, FF, U+0085, U+2028 and U+2029, matched as
// UTF-8 bytes. A terminator belongs to its line; one at the end of the text makes one
// more, empty, line; an empty text has one line. Lines are numbered from zero.
//
// It refuses nothing: any bytes have lines. All functions are pure and take time in
// proportion to what they pass.
package lines
