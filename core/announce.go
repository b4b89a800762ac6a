package core

import (
	"encoding/json/jsontext"
	"fmt"

	"simplex/persistence"
	"simplex/wire"
)

// place is the correlation that an event carries.
type place struct{ requestID, runID string }

// announce publishes an event of the current request and run. Its error means that an
// event which must not be lost found no room.
func (a *Application) announce(c class, name wire.EventName, data any) error {
	return a.announceAt(*a.current.Load(), c, name, data)
}

func (a *Application) announceAt(at place, c class, name wire.EventName, data any) error {
	raw, err := encodeData(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	return a.outbox.publish(c, string(name), wire.Event{
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
