package document

import (
	"io/fs"
	"strconv"
	"strings"
)

// Fault is err as the fault of the value at path, with the line of the value, or of
// the innermost value around it that is there. A nil tree has no
// name and no lines.
func (t *Tree) Fault(path string, err error) error {
	if t == nil {
		return &Error{Path: path, Message: Reason(err), Err: err}
	}
	return &Error{File: t.Name, Line: t.lineOf(path), Path: path, Message: Reason(err), Err: err}
}

// Reason is the text of an error. What the system says of a file is put behind its
// name, without the name of the call.
func Reason(err error) string {
	failed, bare := err.(*fs.PathError)
	if !bare {
		return err.Error()
	}
	return failed.Path + ": " + failed.Err.Error()
}

// lineOf is where the value at path stands. 0 where nothing on the way has a line.
func (t *Tree) lineOf(path string) int {
	n, line := t.Root, 0
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		n = n.child(name)
		if n == nil {
			break
		}
		line = n.Line
	}
	return line
}

// child is the member or item of that name or index, or nil.
func (n *Node) child(name string) *Node {
	if n.Kind != KindSequence {
		return n.Get(name)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Items) {
		return n.Items[i]
	}
	return nil
}
