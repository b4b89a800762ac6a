package wire

// InputAdmitted is the data of input_admitted.
type InputAdmitted struct {
	Operation Operation `json:"operation"`
}

// Persisted is the data of persisted.
type Persisted struct {
	Boundary string `json:"boundary"` // before_tools, results_ready, step_finished, run_finished, compact, cancelled, shutdown
	Format   string `json:"format"`   // json or sqlite
}

// ExportError is the data of export_error.
type ExportError struct {
	Message   Notice `json:"message"`
	Operation string `json:"operation,omitzero"` // archive_cleanup; "": the readable export
}

// ErrorData is the data of error.
type ErrorData struct {
	Message Notice `json:"message"`
	Durable *bool  `json:"durable,omitzero"` // nil, or false for a storage failure
}

// StorageError is the data of the error event that tells of a failed required save.
func StorageError(message string) ErrorData {
	durable := false
	return ErrorData{Message: Notice(message), Durable: &durable}
}

// ModelDelta is the data of model_delta.
type ModelDelta struct {
	Kind string `json:"kind"` // text or reasoning
	Text string `json:"text"`
}

// RunStatus is how a run ended.
type RunStatus string

// The values of run_finished.status.
const (
	RunCompleted     RunStatus = "completed"
	RunCancelled     RunStatus = "cancelled"
	RunExchangeLimit RunStatus = "exchange_limit"
	RunFailed        RunStatus = "failed"
)

// RunFinished is the data of run_finished.
type RunFinished struct {
	Status    RunStatus `json:"status"`
	Error     Notice    `json:"error"`
	Exchanges uint64    `json:"exchanges"` // task and compaction together
	Durable   bool      `json:"durable"`

	Failure           *Failure     `json:"failure,omitzero"`
	TaskExchanges     *uint64      `json:"task_exchanges,omitzero"`
	CompactExchanges  *uint64      `json:"compact_exchanges,omitzero"`
	AutoCompact       *AutoCompact `json:"auto_compact,omitzero"`
	RejectedQueries   uint64       `json:"rejected_queries,omitzero"`
	Unreported        uint64       `json:"unreported_rejections,omitzero"`
	OmittedDisplay    uint64       `json:"omitted_display_events,omitzero"`
	OmittedQuery      uint64       `json:"omitted_query_events,omitzero"`
	OmittedFeedback   uint64       `json:"omitted_feedback_events,omitzero"`
	CoalescedMetadata uint64       `json:"coalesced_metadata_events,omitzero"`
}

// Failure says at which stage a run failed and whether `continue` makes sense.
type Failure struct {
	Stage       string `json:"stage"` // model_request or other
	CanContinue bool   `json:"can_continue"`
	Operation   string `json:"operation,omitzero"` // task, compact or auto_compact
}

// CompactFinished is the data of compact_finished.
type CompactFinished struct {
	Summary      string `json:"summary"` // verbatim, at most MaxSummary bytes
	MemoryFile   string `json:"memory_file"`
	RemovedTurns uint64 `json:"removed_turns"`
	Revision     uint64 `json:"revision"`
	Durable      bool   `json:"durable"` // always true

	Origin string `json:"origin,omitzero"` // "automatic", with Cycle and CallID
	Cycle  uint64 `json:"cycle,omitzero"`
	CallID string `json:"call_id,omitzero"`

	ArchiveCleanup      *ArchiveCleanup `json:"archive_cleanup,omitzero"`
	ArchiveCleanupError Notice          `json:"archive_cleanup_error,omitzero"`
}

// ArchiveCleanup is what retention removed.
type ArchiveCleanup struct {
	RemovedArchives uint64 `json:"removed_archives"`
	RemovedBytes    uint64 `json:"removed_bytes"`
}
