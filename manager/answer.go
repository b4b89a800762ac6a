package manager

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"

	"simplex/manager/protocol"
)

// Result is the result object of a successful response. It must be written at most once
// and closed.
type Result struct {
	object jsontext.Value
	stream func(io.Writer) error // in place of object
	close  func()
}

// Write writes the object on one line. A state that changed while it was read makes it
// fail half-way; what was written is then no response.
func (r *Result) Write(w io.Writer) error {
	if r.stream != nil {
		return r.stream(w)
	}
	_, err := w.Write(r.object)
	return err
}

// Close gives back what a streamed result holds.
func (r *Result) Close() {
	if r.close != nil {
		r.close()
		r.close = nil
	}
}

func object(v any) (jsontext.Value, error) { return json.Marshal(v) }

func answerWith(v any) (*Result, error) {
	raw, err := object(v)
	if err != nil {
		return nil, err
	}
	return &Result{object: raw}, nil
}

// prepared is the answer of prepare and clean_fork.
type prepared struct {
	AllocationID string           `json:"allocation_id"`
	Directory    string           `json:"directory"`
	Status       status           `json:"status"`
	Revision     uint64           `json:"revision"`
	ConfigPath   string           `json:"config_path"`
	Created      bool             `json:"created"`
	ForkOrigin   *protocol.Source `json:"fork_origin,omitzero"`
}

// answer tells the outcome of a mutation from the record as it now is.
func (s *session) answer(p plan) (*Result, error) {
	r := s.rec
	switch s.req.Operation {
	case protocol.Remove:
		return answerWith(struct {
			Status  status `json:"status"`
			Removed bool   `json:"removed"`
		}{statusRetired, p.removed})
	case protocol.CaptureStartup:
		return answerWith(struct {
			LifecycleID string         `json:"lifecycle_id"`
			Revision    uint64         `json:"revision"`
			ConfigPath  string         `json:"config_path"`
			Effective   jsontext.Value `json:"effective_configuration"`
		}{r.Startup.LifecycleID, r.Startup.Revision, configPath(r.Directory), r.Startup.Effective})
	}
	out := prepared{r.AllocationID, r.Directory, r.Status, r.Revision, configPath(r.Directory), p.created, nil}
	if s.req.Operation == protocol.CleanFork {
		out.ForkOrigin = r.ForkOrigin
	}
	return answerWith(out)
}

// inspect takes no lock and is never busy.
func (s *session) inspect() (*Result, error) {
	if err := s.look(); err != nil {
		return nil, err
	}
	if _, err := decide(s.req, situation{rec: s.rec}); err != nil {
		return nil, err
	}
	r := s.rec
	if r.Status != statusReady {
		return answerWith(struct {
			AllocationID string           `json:"allocation_id"`
			Directory    string           `json:"directory"`
			Status       status           `json:"status"`
			Revision     uint64           `json:"revision,omitzero"` // not of a retired one
			ForkOrigin   *protocol.Source `json:"fork_origin"`
		}{r.AllocationID, r.Directory, r.Status, r.Revision, r.ForkOrigin})
	}
	doc, err := r.document()
	if err != nil {
		return nil, err
	}
	lease, err := s.presence()
	if err != nil {
		return nil, err
	}
	// Put together by hand: the big values are JSON already and need no second look.
	var b builder
	b.text("allocation_id", r.AllocationID)
	b.text("directory", r.Directory)
	b.text("status", string(r.Status))
	b.integer("revision", r.Revision)
	b.text("config_path", configPath(r.Directory))
	b.text("lease", lease)
	b.text("backend", doc.Backend)
	b.text("source_configuration", *r.Source)
	b.refresh("overrides", r.overrides())
	b.raw("effective_configuration", doc.Effective)
	b.startup(r.Startup)
	b.origin(r.ForkOrigin)
	return b.result()
}

// presence asks whether a worker is there right now, without taking anything.
func (s *session) presence() (string, error) {
	f, err := s.mgr.Open(s.id() + lockSuffix)
	if missing(err) {
		return "idle", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	held, err := f.Present()
	if err != nil {
		return "", err
	}
	if held {
		return "held", nil
	}
	return "idle", nil
}
