// Package object writes JSON objects member by member, for the record of an allocation
// and the answer of inspect: big values that are JSON already go in as they are, without
// a second look and without the reflection of encoding/json.
//
// It owns the punctuation and the quoting, nothing else. It refuses text that is not
// UTF-8; names are the caller's constants and are not quoted.
//
// Invariants: what comes out is one object on one line, its members in the order in
// which they were added; an error, once there, stays. It does no I/O and imports no
// package of ours.
package object
