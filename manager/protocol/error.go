package protocol

// Code is a stable error code.
type Code string

// The error codes (manager.md, "Error codes").
const (
	InvalidRequest       Code = "invalid_request"
	UnsupportedVersion   Code = "unsupported_version"
	UnsupportedOperation Code = "unsupported_operation"
	InvalidConfiguration Code = "invalid_configuration"
	UnsafePath           Code = "unsafe_path"
	NotFound             Code = "not_found"
	Retired              Code = "retired"
	UnmanagedDirectory   Code = "unmanaged_directory"
	NestedAllocation     Code = "nested_allocation"
	OwnershipMismatch    Code = "ownership_mismatch"
	MountInside          Code = "mount_inside"
	Conflict             Code = "conflict"
	RevisionMismatch     Code = "revision_mismatch"
	LifecycleConflict    Code = "lifecycle_conflict"
	NotReady             Code = "not_ready"
	Busy                 Code = "busy"
	LockingUnsupported   Code = "locking_unsupported"
	PermissionDenied     Code = "permission_denied"
	CorruptRecord        Code = "corrupt_record"
	StateCorrupt         Code = "state_corrupt"
	StateSchema          Code = "state_schema"
	IOError              Code = "io_error"
	Internal             Code = "internal"
)

// Error is a failure as the peer sees it. Messages never hold configuration text.
type Error struct {
	Code      Code
	Message   string
	Published *bool // nil where the operation cannot know
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// NewError makes an error; busy always says that nothing was published.
func NewError(code Code, message string) *Error {
	e := &Error{Code: code, Message: message}
	if code == Busy {
		e.Published = new(bool)
	}
	return e
}
