package schema

import (
	"slices"
	"strconv"
	"strings"
)

// Type is what a key may hold. A document's own package may add types of text, whose rules
// it checks itself.
type Type string

// The types that every document may use. Of what is inside a Mapping, Table, List or
// Object nothing is said here.
const (
	Text    Type = "text"
	Path    Type = "path" // text without NUL
	Name    Type = "name" // [A-Za-z0-9_-]+
	Int     Type = "integer"
	Bool    Type = "boolean"
	Mapping Type = "mapping"             // with known keys
	Table   Type = "mapping of names"    // any names, values of one form
	List    Type = "list"                // items of one form
	Object  Type = "mapping, kept as is" // nothing in it is looked at
	Refused Type = "refused"
)

// Key is what is known of one key of a document: where it stands and what it may hold.
// The zero value is a key that may hold any text.
type Key struct {
	Path     string // slash form; * stands for any name or list index
	Type     Type
	Default  string   // as written in YAML; for integers and booleans never empty
	Min      int64    // of an integer; the largest is always 2147483647
	Enum     []string // of a text
	Required bool     // within its mapping; an omitted mapping counts as empty
	Optional bool     // a mapping whose absence means something; its required keys bind only where it is present
	NonEmpty bool     // of a text
}

// MaxInt is the largest integer that any key may hold (§8).
const MaxInt = 1<<31 - 1

// In tells whether the key is a direct child of the mapping or list at parent, and
// its last name.
func (k *Key) In(parent string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(k.Path, parent)
	if !ok || len(rest) < 2 || rest[0] != '/' || strings.IndexByte(rest[1:], '/') >= 0 {
		return "", false
	}
	return rest[1:], true
}

// Refusal gives the reason why a text does not suit the key, or "".
func (k *Key) Refusal(s string) string {
	switch {
	case k.NonEmpty && s == "":
		return "must not be empty"
	case k.Enum != nil && !slices.Contains(k.Enum, s):
		return wantOne(k.Enum)
	}
	switch k.Type {
	case Path:
		if strings.IndexByte(s, 0) >= 0 {
			return "must not contain NUL"
		}
	case Name:
		if !IsName(s) {
			return "must consist of letters, digits, _ and -"
		}
	}
	return ""
}

func wantOne(words []string) string {
	if len(words) == 1 {
		return "must be " + strconv.Quote(words[0])
	}
	return "must be one of " + strings.Join(words, ", ")
}
