package manager

import (
	"bytes"

	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// step is one thing to do. Each can be repeated after a kill.
type step struct {
	label  string
	record *record.Record // for the steps that publish
}

// The labels of the steps. Each is passed through the fault seam before the step begins.
const (
	stepPreparing = "step.publish-preparing"
	stepStage     = "step.build-stage"
	stepPlace     = "step.move-into-place"
	stepReady     = "step.publish-ready"
	stepChange    = "step.publish-change" // refresh and capture
	stepRemoving  = "step.publish-removing"
	stepTrash     = "step.move-to-trash"
	stepDelete    = "step.delete-trash"
	stepRetired   = "step.publish-retired"
	stepConfirm   = "step.confirm" // nothing changes; what a killed request changed is made durable
)

// plan is what a request comes to.
type plan struct {
	steps   []step
	created bool // prepare and clean_fork: this request makes the allocation
	removed bool // remove: this request retires it
}

// situation is everything that decides, apart from the request: plan looks at nothing
// else.
type situation struct {
	rec   *record.Record
	root  presence
	nonce string // for a new record
	fork  string // clean_fork, new: the child's source
}

// decide turns a request into steps, or into its refusal.
func decide(req *protocol.Request, now situation) (plan, error) {
	switch req.Operation {
	case protocol.Prepare:
		return now.prepare(req)
	case protocol.CleanFork:
		return now.cleanFork(req)
	case protocol.CaptureStartup:
		return now.capture(req)
	case protocol.Remove:
		return now.remove()
	case protocol.Inspect:
		if now.rec == nil {
			return plan{}, notFound()
		}
		return plan{}, nil
	case protocol.ReadState:
		return plan{}, now.mustBeReady()
	}
	return plan{}, refuse(protocol.UnsupportedOperation, "operation: not known")
}

// mustBeReady is the rule of every operation that needs a finished allocation.
func (now situation) mustBeReady() error {
	switch record.StatusOf(now.rec) {
	case record.Absent:
		return notFound()
	case record.Retired:
		return retired()
	case record.Ready:
		return nil
	}
	return notReady(now.rec)
}

func retired() error {
	return refuse(protocol.Retired, "the allocation was removed; use a fresh directory and identity")
}

func notReady(r *record.Record) error {
	if r.Status == record.Preparing {
		return refuse(protocol.NotReady, "the allocation is not complete; repeat the request that prepares it")
	}
	return refuse(protocol.NotReady, "the allocation is being removed; repeat the removal")
}

func (now situation) prepare(req *protocol.Request) (plan, error) {
	rec := now.rec
	switch {
	case rec == nil && req.Configuration == nil:
		return plan{}, notFound()
	case rec == nil:
		return now.create(&record.Record{Source: req.Configuration, Overrides: req.Refresh}, req)
	case rec.Status == record.Retired:
		return plan{}, retired()
	case rec.Status == record.Removing:
		return plan{}, notReady(rec)
	case req.Configuration != nil && *req.Configuration != *rec.Source:
		return plan{}, refuse(protocol.Conflict, "the allocation was prepared with another configuration")
	case rec.Status == record.Preparing:
		if req.Configuration == nil || req.Refresh != nil && !req.Refresh.Equal(rec.OverrideSet()) {
			return plan{}, notReady(rec)
		}
		return now.resume()
	case now.root == rootForeign:
		return plan{}, errForeign
	}
	return now.refresh(req)
}

// refresh replaces the override set of a ready allocation.
func (now situation) refresh(req *protocol.Request) (plan, error) {
	rec := now.rec
	if req.Refresh == nil || req.Refresh.Equal(rec.OverrideSet()) {
		return confirm(), nil
	}
	switch {
	case req.ExpectedRevision == nil && !rec.OverrideSet().Empty():
		return plan{}, refuse(protocol.RevisionMismatch, "expected_revision is needed to replace existing overrides")
	case req.ExpectedRevision != nil && *req.ExpectedRevision != rec.Revision:
		return plan{}, refuse(protocol.RevisionMismatch, "the allocation has another revision than expected_revision")
	}
	if now.root == rootAbsent {
		return plan{}, errLost
	}
	next := rec.With(func(r *record.Record) { r.Overrides, r.Revision = req.Refresh, r.Revision+1 })
	if err := configuration.Derive(next); err != nil {
		return plan{}, err
	}
	return plan{steps: []step{{stepChange, next}}}, nil
}

// create begins a new allocation. A root that is there already is nobody's.
func (now situation) create(r *record.Record, req *protocol.Request) (plan, error) {
	if now.root != rootAbsent {
		return plan{}, errUnmanaged
	}
	r.Version, r.AllocationID, r.Directory = record.Version, req.AllocationID, req.Directory
	r.Status, r.Revision, r.Nonce = record.Preparing, 1, now.nonce
	if err := configuration.Derive(r); err != nil {
		return plan{}, err
	}
	now.rec = r
	p, err := now.resume()
	p.steps = append([]step{{stepPreparing, r}}, p.steps...)
	return p, err
}

// resume finishes a record that is preparing. The executor adds the root's identity.
func (now situation) resume() (plan, error) {
	ready := step{stepReady, now.rec.With(func(r *record.Record) { r.Status = record.Ready })}
	switch now.root {
	case rootForeign:
		return plan{}, errUnmanaged
	case rootOurs: // moved into place, but killed before the record said so
		return plan{steps: []step{ready}, created: true}, nil
	}
	return plan{steps: []step{{label: stepStage}, {label: stepPlace}, ready}, created: true}, nil
}

func (now situation) cleanFork(req *protocol.Request) (plan, error) {
	rec := now.rec
	switch {
	case rec == nil:
		return now.create(&record.Record{Source: &now.fork, Overrides: req.Refresh, ForkOrigin: req.Source, ForkRefresh: req.Refresh}, req)
	case rec.Status == record.Retired:
		return plan{}, retired()
	case rec.ForkOrigin == nil || *rec.ForkOrigin != *req.Source:
		return plan{}, refuse(protocol.Conflict, "the allocation there has another origin")
	case rec.Status == record.Removing:
		return plan{}, notReady(rec)
	case req.Refresh != nil && !req.Refresh.Equal(rec.OverrideSet()) && (rec.ForkRefresh == nil || !req.Refresh.Equal(*rec.ForkRefresh)):
		return plan{}, refuse(protocol.Conflict, "the allocation was forked with another refresh")
	case rec.Status == record.Preparing:
		return now.resume()
	case now.root == rootForeign:
		return plan{}, errForeign
	}
	return confirm(), nil
}

func (now situation) capture(req *protocol.Request) (plan, error) {
	if err := now.mustBeReady(); err != nil {
		return plan{}, err
	}
	rec := now.rec
	if *req.ExpectedRevision != rec.Revision {
		return plan{}, refuse(protocol.RevisionMismatch, "the allocation has another revision than expected_revision")
	}
	switch now.root { // a lifecycle is about to use it
	case rootForeign:
		return plan{}, errForeign
	case rootAbsent:
		return plan{}, errLost
	}
	doc, err := configuration.Of(rec)
	if err != nil {
		return plan{}, err
	}
	if s := rec.Startup; s != nil && s.LifecycleID == *req.LifecycleID {
		if !bytes.Equal(s.Effective, doc.Effective) {
			return plan{}, refuse(protocol.LifecycleConflict, "this lifecycle was captured with another configuration")
		}
		return confirm(), nil
	}
	next := rec.With(func(r *record.Record) {
		r.Startup = &record.Startup{LifecycleID: *req.LifecycleID, Revision: r.Revision, Effective: doc.Effective}
	})
	return plan{steps: []step{{stepChange, next}}}, nil
}

// remove retires: the tombstone first, the deletion second, so that no kill leaves a
// ready record over a half-deleted root.
func (now situation) remove() (plan, error) {
	switch record.StatusOf(now.rec) {
	case record.Absent:
		return plan{}, notFound()
	case record.Retired:
		return confirm(), nil // whatever stands there now is another's
	}
	p := plan{removed: true}
	if now.rec.Status != record.Removing {
		if now.root == rootForeign {
			return plan{}, errForeign
		}
		p.steps = append(p.steps, step{stepRemoving, now.rec.Removing()})
	}
	if now.root == rootOurs {
		p.steps = append(p.steps, step{label: stepTrash})
	}
	p.steps = append(p.steps, step{label: stepDelete}, step{stepRetired, now.rec.Retired()})
	return p, nil
}

func confirm() plan { return plan{steps: []step{{label: stepConfirm}}} }
