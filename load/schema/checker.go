package schema

import (
	"fmt"
	"slices"
	"strconv"

	"simplex/load/document"
)

// Checker looks at single values of one tree and collects all that is wrong with them.
// It is for one goroutine.
type Checker struct {
	Tree *document.Tree
	Errs document.Errors // in the order in which they were found
}

// Fail adds an error about the value at path (slash form), which stands in that line; 0
// where it is absent.
func (c *Checker) Fail(line int, path, format string, args ...any) {
	c.Errs = append(c.Errs, &document.Error{File: c.Tree.Name, Line: line, Path: path, Message: fmt.Sprintf(format, args...)})
}

// Err is everything that was found, sorted, as document.Errors; nil where that is nothing.
func (c *Checker) Err() error {
	if len(c.Errs) == 0 {
		return nil
	}
	return c.Errs.Sorted()
}

// Kind tells whether v is of a kind, and fails where it is not.
func (c *Checker) Kind(v *document.Node, want document.Kind, path string) bool {
	if v.Kind != want {
		c.Fail(v.Line, path, "must be %s, not %s", want, v.Kind)
	}
	return v.Kind == want
}

// Integer fails where v is no integer from k.Min to MaxInt.
func (c *Checker) Integer(v *document.Node, k *Key, path string) {
	if !c.Kind(v, document.KindInt, path) {
		return
	}
	i, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil || i < k.Min || i > MaxInt {
		c.Fail(v.Line, path, "must be in the range %d..%d", k.Min, MaxInt)
	}
}

// Text tells whether v is a text that suits the key, and fails where it is not.
func (c *Checker) Text(v *document.Node, k *Key, path string) bool {
	if v.Kind != document.KindString {
		c.Fail(v.Line, path, "%s", wantText(v))
		return false
	}
	if reason := k.Refusal(v.Text); reason != "" {
		c.Fail(v.Line, path, "%s", reason)
		return false
	}
	return true
}

// wantText is decision 9.13: unquoted words and numbers never become text by guessing.
func wantText(v *document.Node) string {
	switch v.Kind {
	case document.KindBool, document.KindInt, document.KindFloat:
		return fmt.Sprintf("must be text, but YAML reads this unquoted value as %s; put it in quotes", v.Kind)
	case document.KindNull:
		return `must be text, not null; write "" for an empty text and put the word null in quotes`
	default:
		return fmt.Sprintf("must be text, not %s", v.Kind)
	}
}

// Closed refuses the members of a mapping that are not allowed.
func (c *Checker) Closed(n *document.Node, path string, allowed ...string) {
	for _, m := range n.Members {
		if slices.Contains(allowed, m.Name) {
			continue
		}
		near := closest(m.Name, allowed)
		if near != "" {
			near = document.Join(path, near)
		}
		c.Fail(m.Line, document.Join(path, m.Name), "%s", UnknownKey(near))
	}
}

// UnknownKey is what is told of a key that is not known, with the slash path of the
// nearest known one, or "".
func UnknownKey(nearest string) string {
	if nearest == "" {
		return "is not a known key"
	}
	return "is not a known key; the nearest is " + nearest
}
