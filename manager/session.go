package manager

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/ancestors"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// session is one request at work: what it has opened, locked and published.
type session struct {
	m   *Manager
	req *protocol.Request

	chain  *ancestors.Chain
	parent *safepath.Dir
	mgr    *safepath.Dir
	lease  *safepath.File // <id>.lock, locked
	root   *safepath.Dir  // the allocation's root, where it is opened
	guard  *safepath.File // session.lock, for remove
	others []func()       // what else has to be given back

	rec       *record.Record // nil: none
	locked    bool           // the exclusive lease is held: published is known
	published bool           // a rename of this request took effect
}

func (s *session) id() string { return s.req.AllocationID }

// close gives everything back, the lease after what it guards.
func (s *session) close() {
	for _, f := range s.others {
		f()
	}
	_ = s.guard.Close()
	_ = s.root.Close()
	_ = s.lease.Close()
	_ = s.mgr.Close()
	s.chain.Close()
}

// walk opens the directories above the allocation.
func (m *Manager) walk(directory string, mutates, creates bool) (*ancestors.Chain, error) {
	c, err := ancestors.Open(m.ops, directory, mutates, creates)
	if errors.Is(err, ancestors.ErrMissing) {
		return nil, notFound()
	}
	return c, err
}

// look opens the way to the record without locks, for reading.
func (s *session) look() error {
	var err error
	if s.chain, err = s.m.walk(s.req.Directory, false, false); err != nil {
		return err
	}
	s.parent = s.chain.Last()
	if _, err := s.rootInfo(); err != nil {
		return err
	}
	s.mgr, err = ancestors.ManagerDir(s.parent, safepath.Search)
	if missing(err) {
		return notFound()
	}
	if err != nil {
		return err
	}
	return s.load()
}

// acquire takes the locks of a mutation in their order and loads the record. Nothing is
// made for a request that is refused: with creates, missing directories and the lock
// file are made only where the allocation can be.
func (s *session) acquire(creates bool) error {
	var err error
	if s.chain, err = s.m.walk(s.req.Directory, true, creates); err != nil {
		return err
	}
	s.parent = s.chain.Last()
	root, err := s.rootInfo()
	if err != nil {
		return err
	}
	s.mgr, err = ancestors.ManagerDir(s.parent, safepath.Read)
	if missing(err) {
		if err := refuseNew(root, creates); err != nil {
			return err
		}
		err = s.makeManagerDir()
	}
	if err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	if s.rec == nil {
		if err := refuseNew(root, creates); err != nil {
			return errors.Join(err, s.tidy())
		}
	}
	if err := s.take(); err != nil {
		return err
	}
	return s.load()
}

// take takes the exclusive lease.
func (s *session) take() (err error) {
	s.lease, err = s.mgr.LockFile(s.id()+lockSuffix, safepath.Exclusive, true)
	s.locked = err == nil
	return err
}

// tidy removes what a killed request left where no record ever came to be: it may hold a
// configuration. Whoever works there right now removes its own.
func (s *session) tidy() error {
	for _, suffix := range temporary {
		_, err := s.mgr.Look(s.id() + suffix)
		if missing(err) {
			continue
		}
		if err == nil {
			err = s.take()
		}
		if err == nil {
			err = s.sweep()
		}
		if errors.Is(err, durable.ErrLocked) {
			return nil
		}
		return err
	}
	return nil
}

// refuseNew is for a request that found no record.
func refuseNew(root *safepath.Info, creates bool) error {
	switch {
	case !creates:
		return notFound()
	case root != nil:
		return errUnmanaged
	}
	return nil
}

func (s *session) makeManagerDir() (err error) {
	if err = s.parent.MakeDir(protocol.ManagerDirectory); err != nil {
		return err
	}
	if err = s.parent.Sync(); err != nil {
		return err
	}
	s.mgr, err = ancestors.ManagerDir(s.parent, safepath.Read)
	return err
}

// rootInfo tells what stands at the allocation's directory, nil if nothing does. A link
// is refused whatever the record says.
func (s *session) rootInfo() (*safepath.Info, error) {
	info, err := s.parent.Look(s.id())
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Link():
		return nil, fmt.Errorf("%s: %w", s.req.Directory, safepath.ErrLink)
	}
	return &info, nil
}

// load reads the record; none is no error.
func (s *session) load() error {
	s.rec = nil
	f, err := s.mgr.Open(s.id() + recordSuffix)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := f.ReadAll(record.MaxSize)
	if errors.Is(err, safepath.ErrTooLarge) {
		return fmt.Errorf("%w: %w", record.ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	rec, err := record.Decode(raw)
	if err == nil && (rec.AllocationID != s.id() || rec.Directory != s.req.Directory) {
		err = fmt.Errorf("%w: it is another allocation's", record.ErrDamaged)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(), err)
	}
	s.rec = rec
	return nil
}

// guardRoot is what remove wants to know before anything is published: no worker of any
// kind is writing there, and no mount is inside.
func (s *session) guardRoot() (err error) {
	if s.root, err = s.parent.DirHere(s.id(), safepath.Search); err != nil {
		return err
	}
	at, err := s.parent.MountBelow(s.id())
	if err != nil {
		return err
	}
	if at != "" {
		return fmt.Errorf("%s: %w", at, safepath.ErrMount)
	}
	return s.lockSession()
}

// lockSession takes session.lock, if there is one, and makes sure that the root can be
// moved. What an agent did to the modes of its own files must not stand in the way of
// their removal, least of all after the tombstone; a removal that is refused leaves them
// as they were.
func (s *session) lockSession() (err error) {
	var undo []func()
	defer func() {
		if err == nil {
			return
		}
		for _, back := range slices.Backward(undo) {
			back()
		}
	}()
	s.guard, err = s.root.LockFile(configuration.SessionLock, safepath.Exclusive, false)
	if errors.Is(err, unix.EACCES) {
		if undo, err = s.regain(); err != nil {
			return err
		}
		s.guard, err = s.root.LockFile(configuration.SessionLock, safepath.Exclusive, false)
	}
	if err != nil && !missing(err) {
		return err
	}
	if err := s.lockRecords(); err != nil {
		return err
	}
	back, err := s.root.Regain()
	undo = append(undo, back)
	return err
}

// regain opens the root and session.lock to their owner.
func (s *session) regain() (undo []func(), err error) {
	back, err := s.root.Regain()
	if err != nil {
		return nil, err
	}
	undo = append(undo, back)
	if back, err = s.root.RegainFile(configuration.SessionLock); missing(err) {
		return undo, nil
	}
	return append(undo, back), err
}

// lockRecords excludes workers that lock with fcntl.
func (s *session) lockRecords() error {
	if s.guard == nil {
		return nil
	}
	err := s.guard.LockRecords()
	if errors.Is(err, durable.ErrLockUnsupported) {
		return nil // flock is held, and nothing can hold what the file system lacks
	}
	return err
}
