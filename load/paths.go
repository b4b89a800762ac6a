package load

import (
	"path/filepath"
	"slices"
	"strings"
)

// childRule is the rule of persistence.state and .memory.
func childRule(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case strings.IndexByte(s, 0) >= 0:
		return "must not contain NUL"
	case filepath.IsAbs(s):
		return "must be relative to persistence.directory"
	case slices.Contains(strings.Split(s, "/"), ".."):
		return "must not contain a .. component"
	}
	return ""
}

// promptPathRule confines a prompt path lexically below the installation (§2.9).
func promptPathRule(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case strings.IndexByte(s, 0) >= 0:
		return "must not contain NUL"
	case s[0] == '/' || s[0] == '\\' || len(s) > 1 && s[1] == ':' && letter(s[0]):
		return "must be relative to the directory of the executable"
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	if slices.Contains(parts, "..") {
		return "must not contain a .. component"
	}
	return ""
}

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
