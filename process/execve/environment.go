package execve

import (
	"errors"
	"fmt"
	"strings"
)

// ErrMalformedEntry: an environment entry without '=', with an empty key or a NUL.
var ErrMalformedEntry = errors.New("malformed environment entry")

// MergeEnvironment puts together the host's entries (if inherited) and the explicit
// ones by key: the later entry wins, keys are unique, order is that of the
// first appearance (tools.md §4.4). Host entries that are no KEY=VALUE are left
// out; explicit ones are refused, naming the index and never the value.
func MergeEnvironment(host, explicit []string) ([]string, error) {
	merged := make([]string, 0, len(host)+len(explicit))
	position := make(map[string]int, len(host)+len(explicit))
	put := func(key, entry string) {
		if at, ok := position[key]; ok {
			merged[at] = entry
			return
		}
		position[key] = len(merged)
		merged = append(merged, entry)
	}
	for _, entry := range host {
		if key, _, ok := strings.Cut(entry, "="); ok && key != "" {
			put(key, entry)
		}
	}
	for i, entry := range explicit {
		key, _, ok := strings.Cut(entry, "=")
		if !ok || key == "" || strings.IndexByte(entry, 0) >= 0 {
			return nil, fmt.Errorf("entry %d: %w", i, ErrMalformedEntry)
		}
		put(key, entry)
	}
	return merged, nil
}

// LookupEnvironment is the value of key in a merged environment.
func LookupEnvironment(env []string, key string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if name, value, ok := strings.Cut(env[i], "="); ok && name == key {
			return value, true
		}
	}
	return "", false
}
