package manager

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"

	"simplex/manager/configuration"
	"simplex/manager/object"
	"simplex/manager/protocol"
	"simplex/manager/record"
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

func marshal(v any) (jsontext.Value, error) { return json.Marshal(v) }

func answerWith(v any) (*Result, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return &Result{object: raw}, nil
}

// prepared is the answer of prepare and clean_fork.
type prepared struct {
	AllocationID string           `json:"allocation_id"`
	Directory    string           `json:"directory"`
	Status       record.Status    `json:"status"`
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
			Status  record.Status `json:"status"`
			Removed bool          `json:"removed"`
		}{record.Retired, p.removed})
	case protocol.CaptureStartup:
		return answerWith(struct {
			LifecycleID string         `json:"lifecycle_id"`
			Revision    uint64         `json:"revision"`
			ConfigPath  string         `json:"config_path"`
			Effective   jsontext.Value `json:"effective_configuration"`
		}{r.Startup.LifecycleID, r.Startup.Revision, configuration.Path(r.Directory), r.Startup.Effective})
	}
	out := prepared{r.AllocationID, r.Directory, r.Status, r.Revision, configuration.Path(r.Directory), p.created, nil}
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
	if r.Status != record.Ready {
		return answerWith(struct {
			AllocationID string           `json:"allocation_id"`
			Directory    string           `json:"directory"`
			Status       record.Status    `json:"status"`
			Revision     uint64           `json:"revision,omitzero"` // not of a retired one
			ForkOrigin   *protocol.Source `json:"fork_origin"`
		}{r.AllocationID, r.Directory, r.Status, r.Revision, r.ForkOrigin})
	}
	doc, err := configuration.Of(r)
	if err != nil {
		return nil, err
	}
	lease, err := s.presence()
	if err != nil {
		return nil, err
	}
	// Put together by hand: the big values are JSON already and need no second look.
	var b object.Builder
	b.Text("allocation_id", r.AllocationID)
	b.Text("directory", r.Directory)
	b.Text("status", string(r.Status))
	b.Integer("revision", r.Revision)
	b.Text("config_path", configuration.Path(r.Directory))
	b.Text("lease", lease)
	b.Text("backend", doc.Backend)
	b.Text("source_configuration", *r.Source)
	record.AddRefresh(&b, "overrides", r.OverrideSet())
	b.Raw("effective_configuration", doc.Effective)
	record.AddStartup(&b, r.Startup)
	record.AddOrigin(&b, r.ForkOrigin)
	raw, err := b.Bytes()
	return &Result{object: raw}, err
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
