package wire

import (
	"encoding/json/jsontext"

	"simplex/state"
)

// Part is the display copy of one content part.
type Part struct {
	Type      state.ContentType `json:"type"`
	Raw       string            `json:"raw"`
	Modality  state.Modality    `json:"modality"`
	Truncated bool              `json:"truncated,omitzero"`
	Bytes     *uint64           `json:"bytes,omitzero"` // of the original; with Truncated
}

// HistoryPage is the data of history: at most MaxPage bytes encoded.
type HistoryPage struct {
	RequestID string           `json:"request_id"`
	Revision  uint64           `json:"revision"`
	Start     uint64           `json:"start"`
	Step      uint64           `json:"step"`
	Next      uint64           `json:"next"`
	NextStep  uint64           `json:"next_step"`
	Total     uint64           `json:"total"`
	Turns     []jsontext.Value `json:"turns"` // encoded TurnView each
}

// TurnView is one turn in a history page.
type TurnView struct {
	Index            uint64           `json:"index"`
	User             []Part           `json:"user"`
	OmittedUserParts uint64           `json:"omitted_user_parts"`
	InternalInput    string           `json:"internal_input,omitzero"`
	Source           *Execution       `json:"source,omitzero"`
	Steps            []jsontext.Value `json:"steps"` // encoded StepView each
	OmittedSteps     uint64           `json:"omitted_steps"`
}

// StepView is one step in a history page.
type StepView struct {
	Index          uint64        `json:"index"`
	Content        []Part        `json:"content"`
	Reasoning      *Part         `json:"reasoning,omitzero"`
	ToolCalls      uint64        `json:"tool_calls"`
	CommitSequence Sequence      `json:"commit_sequence"`
	Execution      *Execution    `json:"execution,omitzero"`
	AnswerSource   *AnswerSource `json:"answer_source,omitzero"`
	OmittedParts   uint64        `json:"omitted_parts"`
}

// Execution says which process and run made a record.
type Execution struct {
	WorkerID  string `json:"worker_id"`
	RequestID string `json:"request_id"`
	RunID     string `json:"run_id"`
}

// AnswerData is the data of answer: one page of an answer, verbatim.
type AnswerData struct {
	RequestID  string            `json:"request_id"`
	Source     AnswerSource      `json:"source"`
	Part       uint64            `json:"part"`
	Offset     uint64            `json:"offset"`
	Raw        string            `json:"raw"` // at most AnswerPage bytes
	Type       state.ContentType `json:"type"`
	Modality   state.Modality    `json:"modality"`
	Bytes      uint64            `json:"bytes"` // of the whole part
	NextOffset uint64            `json:"next_offset"`
	NextPart   uint64            `json:"next_part"`
	TotalParts uint64            `json:"total_parts"`
	Done       bool              `json:"done"`
}
