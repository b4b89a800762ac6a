package display

import (
	"encoding/json/jsontext"

	"simplex/state"
	"simplex/wire"
)

// Pager answers the queries of one worker process from snapshots of its conversation
// (wire.md §6). The cost of a page follows the page and not the conversation. Safe for
// concurrent use.
type Pager struct {
	worker string
	prints Fingerprints
}

// NewPager makes the pager of a worker.
func NewPager(workerID string) *Pager { return &Pager{worker: workerID} }

// Source names an answer of the conversation, as events and history pages do.
func (p *Pager) Source(turn, step uint64, s *state.Step) wire.AnswerSource {
	return p.prints.Source(p.worker, turn, step, s)
}

// History is the data of history for a snapshot at that revision. Its errors are those of
// the package's History; they are for history_error.
func (p *Pager) History(snapshot *state.State, revision uint64, requestID string, req wire.HistoryRequest) (jsontext.Value, error) {
	return History(snapshot.Turns, HistoryQuery{
		HistoryRequest: req, RequestID: requestID, WorkerID: p.worker, Revision: revision, Fingerprints: &p.prints,
	})
}

// Answer is the data of answer: one page, verbatim, of the answer that the request's source
// names in the snapshot. A source that was changed, compacted or made by another worker is
// ErrSource; a page that does not exist is ErrNoPart, ErrBadOffset or ErrBinaryPart. They
// are for answer_error.
func (p *Pager) Answer(snapshot *state.State, requestID string, req wire.AnswerRequest) (wire.AnswerData, error) {
	content, err := findAnswer(snapshot.Turns, sources{p.worker, &p.prints}, req.Source)
	if err != nil {
		return wire.AnswerData{}, err
	}
	return Answer(content, requestID, &req)
}

// sources names the answers of one worker.
type sources struct {
	worker string
	prints *Fingerprints
}

func (s sources) of(turn, step uint64, record *state.Step) wire.AnswerSource {
	return s.prints.Source(s.worker, turn, step, record)
}
