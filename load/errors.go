package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with one document. Its text never holds a value
// of the document, but for the name of a provider or plugin that is not there.
type Error struct {
	File    string // as given by the caller
	Line    int    // 1-based; 0 where the document has no lines or the key is absent
	Path    string // slash form, `/worker/max_exchanges`; "" for the document itself
	Message string
	Err     error // what Message was made of; nil: Message alone
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Error gives `file:line: path: message`, leaving out what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Message)
	return b.String()
}

// Errors is everything that is wrong with one document, in the order of its lines;
// what is missing comes after that, and last come the unknown keys, of which one may be
// a misspelling of what is missing. errors.As finds the first *Error.
type Errors []*Error

// Error puts each error on a line of its own.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single errors.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

func (e Errors) sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		if (a.Line == 0) != (b.Line == 0) {
			return b.Line - a.Line
		}
		return a.Line - b.Line
	})
	return e
}

// Warning tells of a key that the configuration has and this program does not know.
type Warning struct {
	File    string
	Line    int    // 1-based; 0 where the document has no lines
	Path    string // slash form of the unknown key
	Nearest string // slash form of the known key that was probably meant
}

// asError is the warning beside errors that it may explain.
func (w Warning) asError() *Error {
	return &Error{File: w.File, Line: w.Line, Path: w.Path, Message: unknownKey(w.Nearest)}
}

func unknownKey(nearest string) string {
	if nearest == "" {
		return "is not a known key"
	}
	return "is not a known key; the nearest is " + nearest
}

// String is the warning as one line for a person.
func (w Warning) String() string {
	at := w.File
	if w.Line > 0 {
		at += ":" + strconv.Itoa(w.Line)
	}
	if w.Nearest == "" {
		return fmt.Sprintf("%s: unknown key %s is ignored", at, w.Path)
	}
	return fmt.Sprintf("%s: unknown key %s is ignored; the nearest known key is %s", at, w.Path, w.Nearest)
}
