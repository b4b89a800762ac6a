package manager

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
	"simplex/manager/reference"
)

// mutate carries out an operation under its exclusive locks. fork is the source of a new
// child.
func (s *session) mutate(creates bool, fork string) (*Result, error) {
	if err := s.acquire(creates); err != nil {
		return nil, err
	}
	root, err := s.findRoot()
	if err != nil {
		return nil, err
	}
	p, err := decide(s.req, situation{rec: s.rec, root: root, nonce: s.m.cfg.Nonce(), fork: fork})
	if err != nil {
		return nil, err
	}
	if s.req.Operation == protocol.Remove && s.rec.Status != record.Retired && root == rootOurs {
		if err := s.guardRoot(); err != nil {
			return nil, err
		}
	}
	if err := s.execute(p); err != nil {
		return nil, err
	}
	return s.answer(p)
}

// execute runs the steps. What an earlier, killed request left is removed first; after a
// failure of this one, what it left.
func (s *session) execute(p plan) (err error) {
	defer func() {
		if err != nil {
			_ = s.sweep()
		}
	}()
	if p.steps[0].label == stepChange {
		return s.steps(p) // publish itself replaces the only name that may be left beside a ready record
	}
	if err := s.sweep(); err != nil {
		return err
	}
	return s.steps(p)
}

func (s *session) steps(p plan) error {
	for _, st := range p.steps {
		if err := s.m.ops.At(st.label); err != nil {
			return err
		}
		if err := s.step(st); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) step(st step) error {
	switch st.label {
	case stepStage:
		return s.buildStage()
	case stepPlace:
		return s.moveIntoPlace()
	case stepReady:
		info, err := s.rootInfo()
		if err != nil {
			return err
		}
		if info == nil {
			return fmt.Errorf("%s: %w", s.req.Directory, fs.ErrNotExist)
		}
		st.record.Root = identify(*info)
		return s.publish(st.record)
	case stepTrash:
		return s.moveToTrash()
	case stepDelete:
		return s.deleteTrash()
	case stepConfirm:
		return s.mgr.Sync()
	}
	return s.publish(st.record)
}

// sweep removes the temporary names of this allocation.
func (s *session) sweep() error {
	if s.lease == nil {
		return nil
	}
	var errs []error
	for _, suffix := range temporary {
		errs = append(errs, s.mgr.RemoveTree(s.id()+suffix))
	}
	return errors.Join(errs...)
}

// publish is the only way in which a record changes: at every instant the old or the new
// one is there whole.
func (s *session) publish(rec *record.Record) (err error) {
	raw, err := record.Encode(rec)
	if err != nil {
		return err
	}
	temp, name := s.id()+tempSuffix, s.id()+recordSuffix
	if err := s.mgr.RemoveTree(temp); err != nil { // a killed request's, or somebody's link
		return err
	}
	if err := s.write(s.mgr, temp, raw); err != nil {
		return err
	}
	info, err := s.mgr.Look(name)
	if err == nil && !info.Regular() {
		err = fmt.Errorf("%s: %w", name, durable.ErrNotRegular)
	}
	if err != nil && !missing(err) {
		return err
	}
	if err := s.mgr.Rename(temp, s.mgr, name, true); err != nil { // the commit point
		return err
	}
	s.published, s.rec = true, rec
	return s.mgr.Sync()
}

// write makes a new file durable, but not its name.
func (s *session) write(dir *safepath.Dir, name string, raw []byte) error {
	f, err := dir.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// buildStage builds the whole root beside its place, so that it is complete the instant
// it is visible.
func (s *session) buildStage() error {
	if err := s.mgr.RemoveTree(s.id() + stageSuffix); err != nil {
		return err
	}
	raw, err := reference.Encode(s.rec)
	if err != nil {
		return err
	}
	stage, err := makeDir(s.mgr, s.id()+stageSuffix)
	if err != nil {
		return err
	}
	defer stage.Close()
	config, err := makeDir(stage, configuration.Dir)
	if err != nil {
		return err
	}
	defer config.Close()
	if err := s.write(config, configuration.File, raw); err != nil {
		return err
	}
	if err := config.Sync(); err != nil {
		return err
	}
	return stage.Sync()
}

func makeDir(parent *safepath.Dir, name string) (*safepath.Dir, error) {
	if err := parent.MakeDir(name); err != nil {
		return nil, err
	}
	return parent.Dir(name, safepath.Read)
}

func (s *session) moveIntoPlace() error {
	err := s.mgr.Rename(s.id()+stageSuffix, s.parent, s.id(), false)
	if errors.Is(err, fs.ErrExist) {
		return errUnmanaged
	}
	if err != nil {
		return err
	}
	s.published = true
	if err := s.parent.Sync(); err != nil {
		return err
	}
	return s.mgr.Sync()
}

// moveToTrash empties the path from one instant to the next. A trash that stands in the
// way can hold nothing that counts: the record is removing.
func (s *session) moveToTrash() error {
	if err := s.sweep(); err != nil {
		return deleting(err)
	}
	err := s.parent.Rename(s.id(), s.mgr, s.id()+trashSuffix, false)
	if errors.Is(err, unix.EXDEV) {
		err = s.deleteInPlace(err)
	}
	if err != nil {
		return deleting(err)
	}
	s.published = true
	if err := s.parent.Sync(); err != nil {
		return err
	}
	return s.mgr.Sync()
}

// deleteInPlace is for a root in the lower layer of an overlay, which cannot be renamed.
// The tombstone is already there, so that a half-deleted root is no allocation's.
func (s *session) deleteInPlace(refused error) error {
	at, err := s.parent.MountBelow(s.id())
	if err != nil || at != "" {
		return errors.Join(refused, err)
	}
	return s.parent.RemoveTreeLast(s.id(), configuration.Dir) // a repeat knows the root by its reference
}

// deleteTrash may take long, and touches nothing but what the lease guards: the root's
// siblings need not wait for it.
func (s *session) deleteTrash() error {
	s.chain.Unlock()
	if err := s.sweep(); err != nil {
		return deleting(err)
	}
	return s.mgr.Sync()
}

// deleting keeps EACCES and the like from hiding that the tombstone is already there.
func deleting(err error) error {
	if errors.Is(err, safepath.ErrMount) {
		return fmt.Errorf("%w: %w", errDeleting, err)
	}
	return err
}
