package core

import (
	"encoding/json/jsontext"
	"fmt"

	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

// place is the correlation that an event carries.
type place struct{ requestID, runID string }

// announce publishes an event of the current request and run. Its error means that an
// event which must not be lost found no room.
func (a *Application) announce(c class, name wire.EventName, data any) error {
	return a.announceAt(*a.current.Load(), c, name, data)
}

func (a *Application) announceAt(at place, c class, name wire.EventName, data any) error {
	return a.publish(at, c, string(name), name, data)
}

// slotAutoCompact is the latest-value slot of automatic compactions; those by hand are
// lifecycle events of the same name.
const slotAutoCompact = "auto_compact"

// announceIn is announce for a latest-value slot that is not named like its event.
func (a *Application) announceIn(c class, slot string, name wire.EventName, data any) error {
	return a.publish(*a.current.Load(), c, slot, name, data)
}

func (a *Application) publish(at place, c class, slot string, name wire.EventName, data any) error {
	raw, err := encodeData(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	return a.outbox.publish(c, slot, wire.Event{
		Name: name, SessionID: a.session.id, WorkerID: a.workerID,
		RequestID: at.requestID, RunID: at.runID, Data: raw,
	})
}

func encodeData(data any) (jsontext.Value, error) {
	switch d := data.(type) {
	case nil:
		return nil, nil
	case jsontext.Value:
		return d, nil
	default:
		return wire.EncodeData(data)
	}
}

// announceSaved tells of a save that is on disk.
func (a *Application) announceSaved(b persistence.Boundary, format string) {
	_ = a.announce(metadata, wire.EventPersisted, wire.Persisted{Boundary: string(b), Format: format})
}

// announceStorageFailed tells once that nothing is saved any more, and stops the run.
func (a *Application) announceStorageFailed(err error) {
	if e := a.announce(lifecycle, wire.EventError, wire.StorageError(err.Error())); e != nil {
		a.logger.Error("storage failure could not be announced", "error", e)
	}
	a.runs.halt()
}

// announceError tells of something that went wrong without ending anything.
func (a *Application) announceError(message string) {
	_ = a.announce(metadata, wire.EventError, wire.ErrorData{Message: wire.Notice(message)})
}

// announceExportError tells that something beside the saved state went wrong.
func (a *Application) announceExportError(e wire.ExportError) {
	_ = a.announce(metadata, wire.EventExportError, e)
}

func (a *Application) announceCalls(calls []state.Call) error {
	return a.announce(preview, wire.EventToolCalls, display.Calls(calls))
}

func (a *Application) announceResults(results []state.Result) error {
	return a.announce(preview, wire.EventToolResults, display.Results(results))
}
