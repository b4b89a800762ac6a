package wire

import (
	"encoding/json/jsontext"
	"strings"

	"simplex/internal/text"
)

// AppendString appends s to dst as a JSON string, bytes that are no UTF-8 as U+FFFD.
func AppendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// clipWord bounds a word from outside before it is quoted in a message.
func clipWord(s string) string { return text.Prefix(s, 64) }
