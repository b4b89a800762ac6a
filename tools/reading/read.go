package reading

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/reading/lines"
	"simplex/tools/reading/regular"
	"simplex/tools/result"
)

// selection is what a query asks for of a file's content.
type selection struct {
	content    []byte
	from, to   int    // content[from:to]
	first      uint64 // number of the line at from, in lines mode
	lines      uint64 // how many lines are selected, in lines mode
	totalLines uint64
}

func (t *readText) read(q query) (state.Result, error) {
	content, err := regular.Read(q.path, t.limits.file)
	if err != nil {
		return state.Result{}, t.unreadable(q.path, err)
	}
	sel, err := choose(content, q)
	if err != nil {
		return state.Result{}, err
	}
	v := render(sel, q.format, t.limits.output)
	var text result.Text
	r := text.Record()
	r.String("path", q.path)
	if !q.bytes {
		r.Uint("lines_read", sel.lines)
	}
	r.Uint("total_lines", sel.totalLines)
	r.Int("total_bytes", int64(len(content)))
	r.Bool("reached_end", sel.reachedEnd(q))
	r.Bool("output_truncated", v.cut)
	r.Bool("display_replaced", v.replaced)
	r.Strings("hints", hints(sel, q, v, t.limits))
	if v.cut {
		r.CutBlock("text", string(v.body))
	} else {
		r.Block("text", string(v.body))
	}
	return state.Result{Output: text.Content()}, nil
}

// choose finds the selection. A start behind the end is an error, one at the end not.
func choose(content []byte, q query) (selection, error) {
	sel := selection{content: content}
	if !q.bytes {
		sel.from, sel.to, sel.totalLines = lines.Span(content, q.start, q.count)
		if q.start > sel.totalLines {
			return sel, beyond(q, "lines", sel.totalLines)
		}
		sel.first, sel.lines = q.start, min(q.count, sel.totalLines-q.start)
		return sel, nil
	}
	sel.totalLines = uint64(lines.Count(content))
	size := uint64(len(content))
	if q.start > size {
		return sel, beyond(q, "bytes", size)
	}
	sel.from = int(q.start)
	sel.to = sel.from + int(min(q.count, size-q.start))
	return sel, nil
}

// reachedEnd tells whether the selection ends where the file does.
func (sel selection) reachedEnd(q query) bool {
	if q.bytes {
		return sel.to == len(sel.content)
	}
	return sel.first+sel.lines == sel.totalLines
}

func beyond(q query, unit string, total uint64) error {
	return &tools.Failure{Message: fmt.Sprintf("read_text: start %d is behind the end of %q, which has %d %s", q.start, q.path, total, unit)}
}

// unreadable words why a file cannot be read. What the system said stays apart.
func (t *readText) unreadable(path string, err error) error {
	if size, ok := errors.AsType[*regular.SizeError](err); ok {
		return &tools.Failure{Message: fmt.Sprintf("read_text: %q has %d bytes, more than max_file_bytes (%d); cut out the part you need with a command", path, size.Size, size.Limit)}
	}
	if kind, ok := errors.AsType[*regular.KindError](err); ok {
		return &tools.Failure{Message: fmt.Sprintf("read_text: %q is %s; only regular files can be read", path, kind.Kind)}
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return &tools.Failure{Message: fmt.Sprintf("read_text: cannot read %q", path), Cause: errno}
	}
	return &tools.Failure{Message: fmt.Sprintf("read_text: cannot read %q: %v", path, err)}
}
