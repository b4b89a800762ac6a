package protocol

import (
	"path/filepath"
	"strings"
)

// Version is the one protocol version.
const Version = 1

// ManagerDirectory is the name beside the allocations that no path may contain.
const ManagerDirectory = ".simplex-manager"

const (
	maxID        = 128 // bytes of an identifier
	maxComponent = 255 // bytes, the limit of Linux file systems

	// ReferencePath is where, below an allocation's directory, its managed reference is.
	ReferencePath = "config/config.yaml"
	// maxDirectory leaves room for the reference in a path that the kernel takes.
	maxDirectory = 4095 - len("/"+ReferencePath)
)

// Operation is what a request asks for.
type Operation string

// The operations.
const (
	Prepare        Operation = "prepare"
	Inspect        Operation = "inspect"
	CaptureStartup Operation = "capture_startup"
	CleanFork      Operation = "clean_fork"
	ReadState      Operation = "read_state"
	Remove         Operation = "remove"
)

// Request is one decoded request. Members that an operation does not have are nil.
type Request struct {
	RequestID    string
	Operation    Operation
	AllocationID string
	Directory    string // absolute and normalized; its base name is AllocationID

	Configuration    *string // prepare: source YAML, byte for byte
	Refresh          *Refresh
	ExpectedRevision *uint64
	LifecycleID      *string
	Source           *Source
}

// Refresh is a complete set of connection overrides.
type Refresh struct {
	ClientEndpoint       *string `json:"client_endpoint,omitzero"`
	ConfirmationEndpoint *string `json:"confirmation_endpoint,omitzero"`
	ToolsEndpoint        *string `json:"tools_endpoint,omitzero"`
}

// Equal tells whether both sets override the same with the same.
func (r Refresh) Equal(o Refresh) bool {
	return equalText(r.ClientEndpoint, o.ClientEndpoint) &&
		equalText(r.ConfirmationEndpoint, o.ConfirmationEndpoint) &&
		equalText(r.ToolsEndpoint, o.ToolsEndpoint)
}

// Empty tells whether nothing is overridden.
func (r Refresh) Empty() bool { return r.Equal(Refresh{}) }

func equalText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Source names the captured parent startup that a clean_fork begins from.
type Source struct {
	AllocationID string `json:"allocation_id"`
	Directory    string `json:"directory"`
	LifecycleID  string `json:"lifecycle_id"`
	Revision     uint64 `json:"revision"`
}

// ValidID tells whether s is an identifier: 1 to 128 of A-Z a-z 0-9 _ -.
func ValidID(s string) bool {
	if s == "" || len(s) > maxID {
		return false
	}
	for i := range len(s) {
		c := s[i]
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !word {
			return false
		}
	}
	return true
}

// CheckDirectory says what is wrong with an allocation's directory, "" if nothing.
func CheckDirectory(dir, id string) string {
	switch {
	case !filepath.IsAbs(dir):
		return "must be an absolute path"
	case strings.ContainsRune(dir, 0):
		return "must not hold a NUL"
	case dir == "/":
		return "must not be the root directory"
	case dir != filepath.Clean(dir):
		return "must be normalized"
	case filepath.Base(dir) != id:
		return "its last component must be the allocation_id"
	}
	for part := range strings.SplitSeq(dir, "/") {
		switch {
		case part == ManagerDirectory:
			return "must not lie inside " + ManagerDirectory
		case len(part) > maxComponent:
			return "has a component of more than 255 bytes"
		}
	}
	if len(dir) > maxDirectory {
		return "is too long: the paths below it need room within 4095 bytes"
	}
	return ""
}

// allowed says which members beside the common ones an operation has, and which of them
// it cannot do without.
func allowed(op Operation) (may, must []string, known bool) {
	switch op {
	case Prepare:
		return []string{"configuration", "refresh", "expected_revision"}, nil, true
	case Inspect, ReadState, Remove:
		return nil, nil, true
	case CaptureStartup:
		return nil, []string{"lifecycle_id", "expected_revision"}, true
	case CleanFork:
		return []string{"refresh"}, []string{"source"}, true
	}
	return nil, nil, false
}
