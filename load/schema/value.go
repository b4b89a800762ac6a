package schema

import "path/filepath"

// IsName tells whether s suits the type Name: letters, digits, _ and -, at least one.
func IsName(s string) bool {
	for i := range len(s) {
		b := s[i]
		if !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-') {
			return false
		}
	}
	return s != ""
}

// Resolve resolves a configured path against base and normalises it lexically.
func Resolve(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
