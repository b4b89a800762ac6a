package document

import (
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with one document. Its text never holds a value
// of the document, but for the name of something that is not there.
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

// Sorted puts the errors, in place, in the order of their lines, those without a line
// last, and gives them.
func (e Errors) Sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		if (a.Line == 0) != (b.Line == 0) {
			return b.Line - a.Line
		}
		return a.Line - b.Line
	})
	return e
}
