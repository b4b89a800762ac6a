package manager

import (
	"fmt"

	"simplex/internal/safepath"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// cleanFork makes a child of a parent's captured startup. A child that has a record
// never looks at its parent again; for a new one the parent is read first, so that a
// fork that is refused leaves nothing behind.
func (s *session) cleanFork() (*Result, error) {
	known, err := s.known()
	if err != nil {
		return nil, err
	}
	source := ""
	if !known {
		if source, err = s.parentSource(); err != nil {
			s.tidyChild()
			return nil, err
		}
	}
	return s.mutate(!known, source)
}

// tidyChild removes what a killed fork left of a child that is refused now. Where it
// cannot, the refusal is the answer all the same.
func (s *session) tidyChild() {
	child := &session{m: s.m, req: s.req}
	defer child.close()
	_ = child.acquire(false)
}

// known tells whether the child has a record; records never go away.
func (s *session) known() (bool, error) {
	child := &session{m: s.m, req: s.req}
	defer child.close()
	err := child.look()
	if err != nil && causeCode(err) == protocol.NotFound {
		return false, nil
	}
	return child.rec != nil, err
}

// parentSource reads the parent's capture under a shared lease, which is kept until the
// child is made.
func (s *session) parentSource() (string, error) {
	from := s.req.Source
	p := &session{m: s.m, req: &protocol.Request{Operation: protocol.CleanFork, AllocationID: from.AllocationID, Directory: from.Directory}}
	s.others = append(s.others, p.close)
	if err := p.share(); err != nil {
		return "", &sourceError{err}
	}
	captured := p.rec.Startup
	switch {
	case captured == nil || captured.LifecycleID != from.LifecycleID:
		return "", refuse(protocol.LifecycleConflict, "source: the parent has no capture of this lifecycle")
	case captured.Revision != from.Revision:
		return "", refuse(protocol.RevisionMismatch, "source: the parent's capture has another revision")
	}
	return configuration.Child(captured.Effective, from.Directory, s.req.Directory)
}

// share takes the shared lease of a ready allocation, without any other lock.
func (s *session) share() (err error) {
	if err := s.look(); err != nil {
		return err
	}
	if err := (situation{rec: s.rec}).mustBeReady(); err != nil {
		return err
	}
	if s.lease, err = s.mgr.LockFile(s.id()+lockSuffix, safepath.Shared, false); err != nil {
		if missing(err) {
			return fmt.Errorf("%w: its lock file is missing", record.ErrDamaged)
		}
		return err
	}
	if err := s.load(); err != nil { // once more, now that it cannot change
		return err
	}
	return situation{rec: s.rec}.mustBeReady()
}
