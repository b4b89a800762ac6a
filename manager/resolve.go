package manager

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/load"
	"simplex/load/document"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
	"simplex/manager/reference"
)

// ErrNotResolved: a managed reference that no worker may start from. The error's text
// says why and what to do.
var ErrNotResolved = errors.New("managed configuration")

// Managed is the configuration of a managed allocation, together with its lease.
type Managed struct {
	AllocationID string
	Directory    string // the allocation's root, which is persistence.directory
	ConfigPath   string // the reference
	Effective    []byte // the effective configuration, a JSON object

	// Lease is the shared lease with the presence mark. It must stay open until the
	// process ends or has given up the session for good.
	Lease io.Closer
}

// Config checks the effective configuration as load.Load checks a file.
func (m *Managed) Config(opt load.Options) (*load.Config, error) {
	tree, err := document.ParseJSON(m.ConfigPath, m.Effective)
	if err != nil {
		return nil, err
	}
	opt.BaseDir = filepath.Dir(m.ConfigPath)
	return load.FromTree(tree, opt)
}

// Resolve reads the file that a worker was told to start from (manager.md, "The worker's
// side"). A file that is no managed reference gives nil and no error. For a reference it
// takes the allocation's shared lease without waiting, marks presence, and reads the
// record under it. Errors about a reference wrap ErrNotResolved; one that is busy also
// wraps durable.ErrLocked.
func (m *Manager) Resolve(path string) (*Managed, error) {
	raw, info, err := readConfig(path)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if !reference.Is(raw) {
		return nil, nil
	}
	s := &session{m: m}
	managed, err := s.resolve(path, raw, info)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("%w: %s: %w", ErrNotResolved, path, err)
	}
	managed.Lease = s.lease
	s.lease = nil
	s.close()
	return managed, nil
}

func readConfig(path string) ([]byte, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &os.PathError{Op: "open", Path: path, Err: durable.ErrNotRegular}
	}
	raw, err := io.ReadAll(io.LimitReader(f, reference.MaxSize+1))
	if len(raw) > reference.MaxSize {
		raw = nil // whoever reads it as a configuration has a limit of its own
	}
	return raw, info, err
}

func (s *session) resolve(path string, raw []byte, info os.FileInfo) (*Managed, error) {
	ref, err := reference.Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%w; start from the file as `simplex manage` wrote it", err)
	}
	own := configuration.Path(ref.Directory)
	if err := s.checkPlace(path, own, ref, info); err != nil {
		return nil, err
	}
	s.req = &protocol.Request{AllocationID: ref.AllocationID, Directory: ref.Directory}
	if err := s.holdLease(); err != nil {
		return nil, err
	}
	if err := s.checkRecord(ref); err != nil {
		return nil, err
	}
	doc, err := configuration.Of(s.rec)
	if err != nil {
		return nil, err
	}
	if err := configuration.CheckEndpoints(doc); err != nil {
		return nil, err
	}
	if err := s.checkStorage(doc); err != nil {
		return nil, err
	}
	return &Managed{AllocationID: ref.AllocationID, Directory: ref.Directory, ConfigPath: own, Effective: doc.Effective}, nil
}

// checkPlace refuses a reference that was copied or moved: the path must be its own, and
// the file there this file, with no second name.
func (s *session) checkPlace(path, own string, ref *reference.Reference, info os.FileInfo) error {
	elsewhere := fmt.Errorf("the reference belongs to %s and was copied or moved; start from there, or prepare an allocation of its own", own)
	full, err := absolute(path)
	if err != nil {
		return err
	}
	if full != own {
		return elsewhere
	}
	c, err := s.m.walk(ref.Directory, false, false)
	if err != nil {
		return err
	}
	defer c.Close()
	config, err := c.Last().Descend(filepath.Join(ref.AllocationID, configuration.Dir), safepath.Search)
	if err != nil {
		return err
	}
	defer config.Close()
	now, err := config.Look(configuration.File)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || now.Links != 1 || now.Dev != st.Dev || now.Ino != st.Ino {
		return elsewhere
	}
	return nil
}

// absolute resolves against the kernel's working directory: $PWD may go through a link.
func absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Getcwd(buf)
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	return filepath.Join(strings.TrimRight(string(buf[:n]), "\x00"), path), nil
}

// holdLease takes what a worker holds for its life.
func (s *session) holdLease() (err error) {
	if err := s.look(); err != nil {
		return err
	}
	s.lease, err = s.mgr.LockFile(s.id()+lockSuffix, safepath.Shared, false)
	switch {
	case errors.Is(err, durable.ErrLocked):
		return fmt.Errorf("%w: a management operation is at work there; try again", err)
	case err != nil:
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	return s.lease.MarkPresence()
}

// checkRecord is looked at under the lease, so that it stays true.
func (s *session) checkRecord(ref *reference.Reference) error {
	switch record.StatusOf(s.rec) {
	case record.Absent:
		return errors.New("the allocation has no record; prepare a new one")
	case record.Retired, record.Removing:
		return errors.New("the allocation was removed; prepare a new one under another identity")
	case record.Preparing:
		return errors.New("the allocation is not complete; repeat the request that prepares it")
	}
	if s.rec.Nonce != ref.Nonce {
		return errors.New("the reference belongs to another allocation of this name; prepare a new one")
	}
	root, err := s.findRoot()
	if err == nil && root != rootOurs {
		err = errForeign
	}
	return err
}

// checkStorage refuses links where the worker is going to write.
func (s *session) checkStorage(doc *record.Document) error {
	root, err := s.parent.Dir(s.id(), safepath.Search)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, rel := range []string{doc.State, doc.Memory} {
		dir, err := root.Descend(rel, safepath.Search)
		if err != nil && !missing(err) {
			return err
		}
		_ = dir.Close()
	}
	return nil
}
