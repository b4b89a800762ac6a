package post

import (
	"encoding/json/jsontext"
	"slices"
	"strings"
	"unicode/utf8"

	"simplex/llm"
)

// shortest header value that is worth hiding: shorter ones would blank out plain words.
const shortest = 8

const redacted = "[redacted]"

// secrets are the texts that must not come back out in an error.
type secrets []string

func newSecrets(e llm.Endpoint) secrets {
	var out secrets
	add := func(s string) {
		if s == "" || slices.Contains(out, s) {
			return
		}
		out = append(out, s)
		if quoted, err := jsontext.AppendQuote(nil, s); err == nil {
			if inner := string(quoted[1 : len(quoted)-1]); inner != s {
				out = append(out, inner)
			}
		}
	}
	add(e.Auth.APIKey)
	for _, value := range e.ExtraHeaders {
		if len(value) >= shortest {
			add(value)
		}
		if _, word, found := strings.Cut(value, " "); found && len(word) >= shortest {
			add(word) // the key of `Authorization: Bearer <key>`
		}
	}
	// The longest first, so that one which holds another is hidden whole.
	slices.SortFunc(out, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return out
}

// scrub takes the secrets out of a provider's text.
func (s secrets) scrub(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

func (s secrets) longest() int {
	if len(s) == 0 {
		return 0
	}
	return len(s[0])
}

// excerpt gives at most limit bytes of a provider's text, scrubbed, as valid UTF-8.
// cut tells that text itself was cut, so that its end may hold half a secret.
func (s secrets) excerpt(text string, limit int, cut bool) string {
	text = s.scrub(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")))
	if cut {
		text = text[:max(0, len(text)-s.longest())]
	}
	if len(text) > limit {
		text = text[:limit]
	}
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
