package editing

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/tools"
	"simplex/tools/reading/regular"
)

// refusal words an error for the model. In every case nothing was written.
func refusal(path string, err error) error {
	failed := func(format string, args ...any) error {
		return &tools.Failure{Message: fmt.Sprintf("%q ", path) + fmt.Sprintf(format, args...)}
	}
	switch {
	case errors.Is(err, errConflict):
		return failed("was changed by somebody else during the edit (conflict); nothing was written. Read it again before you decide on a new edit")
	case errors.Is(err, errLink):
		return failed("is a symbolic link, which is not followed; edit the file it points to")
	case errors.Is(err, errShared):
		return failed("has further hard links, which an edit would cut off; nothing was written")
	case errors.Is(err, errBits):
		return failed("has a set-uid, set-gid or sticky bit, which an edit could not keep; nothing was written")
	case errors.Is(err, errName):
		return failed("does not end with a file name")
	}
	if kind, ok := errors.AsType[*regular.KindError](err); ok {
		return failed("is %s; only regular files can be edited", kind.Kind)
	}
	if size, ok := errors.AsType[*regular.SizeError](err); ok {
		return failed("has %d bytes, more than the limit of %d; nothing was written", size.Size, size.Limit)
	}
	if miss, ok := errors.AsType[*missError](err); ok {
		return failed("%s", miss.advice())
	}
	if many, ok := errors.AsType[*ambiguousError](err); ok {
		return failed("%s", many.advice())
	}
	return broken(path, err)
}

// broken reports what the system said, apart from the message.
func broken(path string, err error) error {
	message := fmt.Sprintf("%q cannot be edited", path)
	if se, ok := errors.AsType[*stepError](err); ok {
		message = fmt.Sprintf("%q: could not %s; nothing was written", path, se.step)
		err = se.err
	}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		err = errno
	}
	return &tools.Failure{Message: message, Cause: err}
}

func (e *missError) advice() string {
	said := "does not contain old_text, so nothing was written; every byte must match, white space and line ends included"
	if len(e.similar) > 0 {
		said += ". Its first line does occur, in " + e.numbers()
	}
	return said + ". Read the place again and copy the text from there"
}

func (e *missError) numbers() string { return numbered(e.similar, false) }

func (e *ambiguousError) advice() string {
	times := fmt.Sprintf("%d times", e.count)
	if e.more {
		times = fmt.Sprintf("at least %d times", e.count)
	}
	return fmt.Sprintf("contains old_text %s, in %s (counted from 0), so nothing was written; take more of the text around the right one",
		times, numbered(e.lines, e.more || e.count > len(e.lines)))
}

// numbered lists line numbers.
func numbered(list []int, more bool) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	out := "line "
	if len(list) > 1 {
		out = "lines "
	}
	out += strings.Join(words, ", ")
	if more {
		out += " and others"
	}
	return out
}
