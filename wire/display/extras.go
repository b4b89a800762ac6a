package display

import (
	"strconv"

	"simplex/state"
	"simplex/wire"
)

// appendExtras appends label and a display copy of an entry's extras; nothing when they
// are unset. Extras of at most wire.EntryExtras bytes are verbatim. Of larger ones status,
// loop_skipped, error.stage and error.message always survive, and the other members do
// when they fit together; else their size is told.
func appendExtras(dst []byte, label string, extras state.Object) []byte {
	if !extras.IsSet() {
		return dst
	}
	dst = append(dst, label...)
	text := extras.String()
	if len(text) <= wire.EntryExtras && !tooDeep(text, wire.DisplayDepth) {
		return append(dst, text...)
	}
	dst = append(dst, '{')
	start, rest := len(dst), 0
	for key, value := range members(text) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		before := len(dst)
		switch key {
		case `"status"`, `"loop_skipped"`:
			dst = appendSmall(append(append(dst, key...), ':'), value, wire.EntryStatus)
		case `"error"`:
			dst = appendError(append(append(dst, key...), ':'), value)
		default:
			rest += len(key) + len(value) + 2
			dst = dst[:max(before-1, start)]
		}
	}
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = appendOthers(dst, text, rest)
	return append(dst, '}')
}

// appendOthers appends the members that need not survive, or how large they were.
func appendOthers(dst []byte, text string, rest int) []byte {
	if rest == 0 || rest > wire.EntryExtras || tooDeep(text, wire.DisplayDepth) {
		dst = append(dst, `"display_truncated":true,"bytes":`...)
		return strconv.AppendInt(dst, int64(len(text)), 10)
	}
	first := true
	for key, value := range members(text) {
		if key == `"status"` || key == `"loop_skipped"` || key == `"error"` {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, key...), ':'), value...)
	}
	return dst
}

// appendError appends stage and message of an error record; another value is cut like
// any other.
func appendError(dst []byte, text string) []byte {
	if text[0] != '{' {
		return appendSmall(dst, text, wire.EntryErrorText)
	}
	dst = append(dst, '{')
	first := true
	for key, value := range members(text) {
		limit := 0
		switch key {
		case `"stage"`:
			limit = wire.EntryErrorStage
		case `"message"`:
			limit = wire.EntryErrorText
		default:
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendSmall(append(append(dst, key...), ':'), value, limit)
	}
	return append(dst, '}')
}

// appendSmall copies a value of at most limit bytes. A longer string keeps its
// beginning and stays a string; another value becomes null.
func appendSmall(dst []byte, text string, limit int) []byte {
	if text[0] != '"' {
		if len(text) <= limit && !tooDeep(text, wire.DisplayDepth) {
			return append(dst, text...)
		}
		return append(dst, "null"...)
	}
	return append(append(append(dst, '"'), quotedPrefix(text, limit, limit)...), '"')
}

// members goes through the quoted keys and the value texts of an object's compact text.
func members(text string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for i := 1; text[i] != '}'; {
			behind := skipString(text, i)
			end := skipValue(text, behind+1)
			if !yield(text[i:behind], text[behind+1:end]) {
				return
			}
			if i = end; text[i] == ',' {
				i++
			}
		}
	}
}
