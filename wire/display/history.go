package display

import (
	"encoding/json/jsontext"
	"errors"

	"simplex/internal/text"
	"simplex/state"
	"simplex/wire"
)

// HistoryQuery is a history request with what the page has to tell beside the turns.
type HistoryQuery struct {
	wire.HistoryRequest
	RequestID string
	WorkerID  string // of this process: it serves the answers behind the sources
	Revision  uint64

	Fingerprints *Fingerprints // nil: each is computed anew
}

// ErrNoTurn is returned for a start or step behind the end of the history.
var ErrNoTurn = errors.New("the history has no such turn or step")

// errPage guards the promises of a page on its final bytes: that it is within wire.MaxPage
// and that it advances.
var errPage = errors.New("a record does not fit a history page")

// pageOverhead is more than a page's own members and the commas between turns take.
const pageOverhead = 1 << 10

// History is the data of history: one page of at most wire.MaxPage bytes (wire.md §6).
// Turns and steps are whole; a turn that does not fit goes on in the next page, its user
// input repeated. Every page but the last one advances.
func History(turns []*state.Turn, q HistoryQuery) (jsontext.Value, error) {
	page := wire.HistoryPage{
		RequestID: q.RequestID, Revision: q.Revision,
		Start: q.Start, Step: q.Step, Next: q.Start, NextStep: q.Step, Total: uint64(len(turns)),
	}
	if q.Start > page.Total || q.Step > 0 && (q.Start == page.Total || q.Step >= uint64(len(turns[q.Start].Steps))) {
		return nil, ErrNoTurn
	}
	named := sources{q.WorkerID, q.Fingerprints}
	budget := wire.MaxPage - pageOverhead
	for page.Next < page.Total && len(page.Turns) < q.Limit {
		turn := turns[page.Next]
		encoded, taken, err := turnView(turn, named, page.Next, page.NextStep, budget)
		if err != nil {
			return nil, err
		}
		if encoded == nil {
			break
		}
		page.Turns = append(page.Turns, encoded)
		budget -= len(encoded)
		if page.NextStep += taken; page.NextStep < uint64(len(turn.Steps)) {
			break
		}
		page.Next, page.NextStep = page.Next+1, 0
	}
	return finalPage(&page)
}

func finalPage(page *wire.HistoryPage) (jsontext.Value, error) {
	if page.Next < page.Total && page.Next == page.Start && page.NextStep == page.Step {
		return nil, errPage
	}
	data, err := wire.EncodeData(page)
	if err == nil && len(data) > wire.MaxPage {
		err = errPage
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// turnView encodes a turn from step first on, with as many steps as fit; nil when nothing
// of it does.
func turnView(t *state.Turn, named sources, index, first uint64, budget int) (out jsontext.Value, taken uint64, err error) {
	view := userView(t)
	view.Index, view.OmittedSteps = index, uint64(len(t.Steps))
	head, err := wire.EncodeData(&view)
	if err != nil || len(head) > budget {
		return nil, 0, err
	}
	room := budget - len(head)
	for i, step := range t.Steps[first:] {
		encoded, err := stepView(step, named, index, first+uint64(i))
		if err != nil {
			return nil, 0, err
		}
		if room -= len(encoded) + 1; room < 0 {
			break
		}
		view.Steps = append(view.Steps, encoded)
	}
	taken = uint64(len(view.Steps))
	if taken == 0 && first < uint64(len(t.Steps)) {
		return nil, 0, nil
	}
	view.OmittedSteps -= taken
	out, err = wire.EncodeData(&view)
	return out, taken, err
}

// userView is a turn without its steps. An internal input shows what it is instead.
func userView(t *state.Turn) (view wire.TurnView) {
	extras := t.UserInput.Extras
	if source, ok := extras.Get("simplex.source"); ok {
		view.Source = execution(source)
	}
	if internal, ok := extras.Get("simplex.internal_input"); ok {
		name, _ := internal.Text()
		view.InternalInput = text.Prefix(name, wire.MaxID)
		return view
	}
	parts, omitted := UserParts(t.UserInput.Content)
	view.User, view.OmittedUserParts = parts, uint64(omitted)
	return view
}

func stepView(s *state.Step, named sources, turn, index uint64) (jsontext.Value, error) {
	m := s.ModelResponse
	view := wire.StepView{
		Index: index, Reasoning: Reasoning(m), ToolCalls: uint64(len(m.Calls)),
		CommitSequence: wire.Sequence(s.CommitSequence),
	}
	parts, omitted := Parts(m.Content, wire.HistoryAnswer)
	view.Content, view.OmittedParts = parts, uint64(omitted)
	if run, ok := s.Extras.Get("simplex.execution"); ok {
		view.Execution = execution(run)
	}
	if s.CommitSequence > 0 {
		source := named.of(turn, index, s)
		view.AnswerSource = &source
	}
	return wire.EncodeData(&view)
}

// execution reads a host annotation; nil when it is not one.
func execution(v state.Value) *wire.Execution {
	o, err := v.Object()
	if err != nil {
		return nil
	}
	field := func(name string) string {
		id, _ := o.Get(name)
		word, _ := id.Text()
		return text.Prefix(word, wire.MaxID)
	}
	return &wire.Execution{WorkerID: field("worker_id"), RequestID: field("request_id"), RunID: field("run_id")}
}

// ErrSource is returned for a source that does not name an answer of this conversation as
// it is now.
var ErrSource = errors.New("the answer was changed, compacted, or is not of this worker")

// FindAnswer gives the parts of the answer that the source names, or ErrSource.
func FindAnswer(turns []*state.Turn, worker string, source wire.AnswerSource) ([]state.Content, error) {
	return findAnswer(turns, sources{worker, nil}, source)
}

func findAnswer(turns []*state.Turn, named sources, source wire.AnswerSource) ([]state.Content, error) {
	if source.WorkerID != named.worker || source.Turn >= uint64(len(turns)) {
		return nil, ErrSource
	}
	steps := turns[source.Turn].Steps
	if source.Step >= uint64(len(steps)) {
		return nil, ErrSource
	}
	step := steps[source.Step]
	if wire.Sequence(step.CommitSequence) != source.CommitSequence || named.of(source.Turn, source.Step, step) != source {
		return nil, ErrSource
	}
	return step.ModelResponse.Content, nil
}
