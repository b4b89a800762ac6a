package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrInvalidUTF8 says that a string cannot be written as JSON; the error that wraps it is
// an *EncodeError with the place.
var ErrInvalidUTF8 = errors.New("invalid UTF-8")

// ErrNotFinite says that a float is NaN or infinite and so has no JSON form.
var ErrNotFinite = errors.New("number is not finite")

// DecodeError is every error of Decode and of the record decoders: where in the document
// and what is wrong there.
type DecodeError struct {
	Path    string // JSON pointer, "" for the document itself
	Offset  int    // byte offset in the text that was read
	Problem string
	Syntax  bool // the text is not JSON at all, as opposed to JSON of a wrong shape
}

// Error gives path and problem, and the offset where the text is not JSON.
func (e *DecodeError) Error() string {
	path := e.Path
	if path == "" {
		path = "(document)"
	}
	if e.Syntax {
		return fmt.Sprintf("%s: %s at byte %d", path, e.Problem, e.Offset)
	}
	return path + ": " + e.Problem
}

func (e *DecodeError) within(key []byte) { e.Path = "/" + pointerToken(string(key)) + e.Path }

func (e *DecodeError) withinIndex(i int) { e.Path = "/" + strconv.Itoa(i) + e.Path }

// EncodeError tells which string of a State cannot be written.
type EncodeError struct {
	Path string // JSON pointer
	Err  error
}

// Error gives path and cause.
func (e *EncodeError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause, ErrInvalidUTF8 for example.
func (e *EncodeError) Unwrap() error { return e.Err }

// StructureError tells which rule of worker-data.md §3.3 a State breaks, and where.
type StructureError struct {
	Path    string // JSON pointer
	Problem string
}

// Error gives path and problem.
func (e *StructureError) Error() string { return e.Path + ": " + e.Problem }

func pointerToken(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
