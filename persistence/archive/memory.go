package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/persistence/readable"
	"simplex/state"
)

// FileName is the one file inside an archive.
const FileName = "state.md"

// Memory is the directory that holds a session's archives. It keeps no descriptor open
// and no state; one process at a time may create and clean (the session's lock sees to
// that).
type Memory struct {
	dir    string
	keep   int
	limits readable.Limits
}

// Config says where archives are and how many stay.
type Config struct {
	Dir    string          // absolute; made (0700) with the first archive
	Keep   int             // memory_retention.max_archives; 0: nothing is ever removed
	Limits readable.Limits // of the previews in state.md
}

// ErrRelative is returned for a directory that is not absolute.
var ErrRelative = errors.New("memory directory is not an absolute path")

// New prepares the use of a memory directory; nothing on disk is touched.
func New(cfg Config) (*Memory, error) {
	if !filepath.IsAbs(cfg.Dir) {
		return nil, fmt.Errorf("%w: %q", ErrRelative, cfg.Dir)
	}
	if cfg.Keep < 0 {
		return nil, fmt.Errorf("memory %s: cannot keep %d archives", cfg.Dir, cfg.Keep)
	}
	return &Memory{dir: filepath.Clean(cfg.Dir), keep: cfg.Keep, limits: cfg.Limits}, nil
}

// Dir is the absolute memory directory.
func (m *Memory) Dir() string { return m.dir }

// File is the absolute path of an archive's file.
func (m *Memory) File(name string) string { return filepath.Join(m.dir, name, FileName) }

// Next is the name that an archive made now would have (§4.2). It changes nothing. Errors:
// ErrExhausted, ErrRunID.
func (m *Memory) Next(now time.Time, runID string) (string, error) {
	entries, err := m.list()
	if err != nil {
		return "", fmt.Errorf("memory %s: %w", m.dir, err)
	}
	ordinal, err := nextOrdinal(entries)
	if err != nil {
		return "", fmt.Errorf("memory %s: %w", m.dir, err)
	}
	return name(ordinal, now, runID)
}

// list gives the names in the memory directory; none where it is missing.
func (m *Memory) list() ([]string, error) {
	f, err := os.OpenFile(m.dir, unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// Create makes the archive's directory. One that exists is an error (fs.ErrExist): it is
// never used again.
func (m *Memory) Create(name string) error {
	if !Recognised(name) {
		return fmt.Errorf("create archive: %w: %q", ErrName, name)
	}
	parent, err := durable.OpenDir(m.dir)
	if err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	defer parent.Close()
	if err := parent.SyncMade(); err != nil {
		return fmt.Errorf("create archive: %w", err)
	}
	fd, err := openAt(unix.AT_FDCWD, m.dir, 0)
	if err != nil {
		return fmt.Errorf("create archive in %s: %w", m.dir, err)
	}
	defer unix.Close(fd)
	err = again(func() error { return unix.Mkdirat(fd, name, 0o700) })
	if err == nil {
		err = again(func() error { return unix.Fsync(fd) })
	}
	if err != nil {
		return fmt.Errorf("create archive %s: %w", filepath.Join(m.dir, name), err)
	}
	return nil
}

// Write puts the state into the state.md of an archive that Create made, whole or not at
// all.
func (m *Memory) Write(name string, st *state.State) error {
	if !Recognised(name) {
		return fmt.Errorf("write archive: %w: %q", ErrName, name)
	}
	parent, err := durable.OpenDir(m.dir)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	defer parent.Close()
	if !parent.Exists(name) { // Sub would make it
		return fmt.Errorf("write archive %s: %w", filepath.Join(m.dir, name), fs.ErrNotExist)
	}
	dir, err := parent.Sub(name)
	if err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	defer dir.Close()
	if err := dir.Publish(FileName, func(w io.Writer) error { return readable.Write(w, st, m.limits) }); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// openAt opens a directory below another one.
func openAt(parent int, name string, more int) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|more, 0)
		return err
	})
	return fd, err
}

// again makes a raw call once more after EINTR.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
