package hooks

import "simplex/state"

// Name is the name of an event, as configuration and logs spell it.
type Name string

// The events in the order in which a run meets them. "Edit" events may change the
// part of Event that is named; all others only observe.
const (
	RunStarted             Name = "RunStarted"
	BeforeInput            Name = "BeforeInput" // edit: Event.Input
	InputCommitted         Name = "InputCommitted"
	BeforeModel            Name = "BeforeModel" // edit: Event.Candidate
	ModelCommitted         Name = "ModelCommitted"
	BeforeToolBatch        Name = "BeforeToolBatch"
	ToolDispatchCheckpoint Name = "ToolDispatchCheckpoint" // durable point: no tool has run yet
	ToolResultsCheckpoint  Name = "ToolResultsCheckpoint"  // durable point: every call has its record
	ToolResultsCommitted   Name = "ToolResultsCommitted"
	EditOnStepFinished     Name = "EditOnStepFinished" // edit: Event.Edit
	StepFinished           Name = "StepFinished"
	EditOnRunFinished      Name = "EditOnRunFinished" // edit: Event.Edit
	RunFinished            Name = "RunFinished"       // errors are only logged
)

// Names lists every event in the order of the constants.
func Names() []Name {
	return []Name{
		RunStarted, BeforeInput, InputCommitted, BeforeModel, ModelCommitted,
		BeforeToolBatch, ToolDispatchCheckpoint, ToolResultsCheckpoint, ToolResultsCommitted,
		EditOnStepFinished, StepFinished, EditOnRunFinished, RunFinished,
	}
}

// Event is one moment of a run. Members that an event does not use are zero.
//
// Everything reachable from it, the editable member aside, is read-only; records of
// a state are immutable even inside the editable member: a handler replaces a record
// and the slice that holds it, and never writes through a pointer it was given.
// State may be kept: it is a snapshot and does not change later.
type Event struct {
	Name  Name
	State *state.State // the conversation as it stands; never nil in a run

	// Input is the message about to be admitted (BeforeInput; editable by replacing
	// the pointer) or just admitted (InputCommitted).
	Input *state.Message
	// Candidate is what the next exchange would be made with (BeforeModel; editable).
	Candidate *Candidate
	// Edit is a clone of State to be changed copy-on-write (EditOnStepFinished,
	// EditOnRunFinished). Its Loop must stay as it is, and its history too unless the
	// phase is ready (worker-data.md §3.4). Changes of all handlers are kept or
	// dropped together.
	Edit *state.State
	// Response is the model's message (ModelCommitted).
	Response *state.Message
	// Calls are the step's calls as the model proposed them (ModelCommitted up to
	// StepFinished); none when the model answered without tools.
	Calls []state.Call
	// Results are the step's records in call order (ToolResultsCheckpoint up to
	// StepFinished).
	Results []state.Result
}

// Candidate is the part of a state that BeforeModel may change.
type Candidate struct {
	SystemPrompt state.SystemPrompt // must render, or the run fails
	Tools        []state.Tool
	Extras       state.Object
}
