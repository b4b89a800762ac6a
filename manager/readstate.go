package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"simplex/internal/safepath"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/statefile"
)

// The files of a worker's state directory.
const (
	stateFile    = "state.json"
	readableFile = "readable.md"
	databaseFile = "state.db"
)

// StateReader reads SQLite states.
type StateReader interface {
	// ReadState reads the database file at path in one read-only transaction; nothing is
	// created or migrated. While the transaction holds its files open it calls opened,
	// which tells whether the path led to them, and fails with its error. Errors wrap
	// ErrNoState, ErrStateSchema, ErrStateCorrupt, ErrStateBusy, or are I/O errors.
	ReadState(ctx context.Context, path string, opened func() error) (Snapshot, error)
}

// Snapshot is what one SQLite database holds.
type Snapshot interface {
	// WriteState writes the state as one JSON object on one line.
	WriteState(w io.Writer) error
	// Revision and OperationID are nil where the database has none.
	Revision() *uint64
	OperationID() *string
	Close() error
}

var (
	// ErrNoState: there is no database, nor a part of one.
	ErrNoState = errors.New("there is no state")
	// ErrStateBusy: the state cannot be had at once.
	ErrStateBusy = errors.New("the state is being opened or changed by another program")
	// ErrStateSchema: the database has another schema version.
	ErrStateSchema = errors.New("the state has another schema")
	// ErrStateCorrupt: the state is damaged.
	ErrStateCorrupt = errors.New("the state is damaged")
)

// readState reads under a shared lease, so that no removal runs meanwhile. Files that
// are replaced by rename are seen in one version: each is opened once.
func (s *session) readState() (*Result, error) {
	if err := s.share(); err != nil {
		return nil, err
	}
	doc, err := configuration.Of(s.rec)
	if err != nil {
		return nil, err
	}
	root, err := s.findRoot()
	if err != nil {
		return nil, err
	}
	switch root {
	case rootForeign:
		return nil, errForeign
	case rootOurs:
		if s.root, err = s.parent.Dir(s.id(), safepath.Search); err != nil {
			return nil, err
		}
	}
	dir, err := s.stateDir(doc.State)
	if err != nil {
		return nil, err
	}
	if doc.Backend == "sqlite" {
		return s.readSQLite(dir)
	}
	return s.readJSON(dir)
}

// stateDir opens the state directory, nil where it is missing.
func (s *session) stateDir(rel string) (*safepath.Dir, error) {
	if s.root == nil {
		return nil, nil
	}
	dir, err := s.root.Descend(rel, safepath.Search)
	if missing(err) {
		return nil, nil
	}
	if err == nil {
		s.others = append(s.others, func() { _ = dir.Close() })
	}
	return dir, err
}

// openIn opens a file, nil where it or its directory is missing.
func (s *session) openIn(dir *safepath.Dir, name string) (*safepath.File, error) {
	if dir == nil {
		return nil, nil
	}
	f, err := dir.Open(name)
	if missing(err) {
		return nil, nil
	}
	if err == nil {
		s.others = append(s.others, func() { _ = f.Close() })
	}
	return f, err
}

// readJSON checks both files whole before the answer begins, and then reads them once
// more while it is written, so that no size needs memory.
func (s *session) readJSON(dir *safepath.Dir) (*Result, error) {
	st, err := s.checked(dir, stateFile, statefile.CheckObject)
	if err != nil {
		return nil, err
	}
	text, err := s.checked(dir, readableFile, statefile.CheckText)
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) error {
		if _, err := io.WriteString(w, `{"backend":"json","state":`); err != nil {
			return err
		}
		if err := st.CopyTo(w, statefile.CopyObject); err != nil {
			return err
		}
		if _, err := io.WriteString(w, `,"readable":`); err != nil {
			return err
		}
		if err := text.CopyTo(w, statefile.CopyText); err != nil {
			return err
		}
		_, err := io.WriteString(w, "}")
		return err
	}
	return &Result{stream: write, close: s.close}, nil
}

// checked opens and checks a file, nil where it or its directory is missing.
func (s *session) checked(dir *safepath.Dir, name string, check func(io.Reader) error) (*statefile.File, error) {
	f, err := s.openIn(dir, name)
	if err != nil || f == nil {
		return nil, err
	}
	c, err := statefile.Check(f, check)
	return c, corrupt(f, err)
}

// corrupt names the file whose content is no state; an I/O error stays one.
func corrupt(f *safepath.File, err error) error {
	if errors.Is(err, statefile.ErrContent) {
		return refuse(protocol.StateCorrupt, fmt.Sprintf("%s: %v", filepath.Base(f.Path()), err))
	}
	return err
}

func (s *session) readSQLite(dir *safepath.Dir) (*Result, error) {
	if dir == nil {
		return noDatabase()
	}
	db, err := s.openIn(dir, databaseFile)
	if err != nil {
		return nil, err
	}
	if db != nil && db.Info().Size == 0 {
		return nil, refuse(protocol.StateSchema, databaseFile+": is empty")
	}
	// A descriptor of the file that is closed while SQLite has it open would drop
	// SQLite's locks, so it goes first.
	if err := db.Close(); err != nil {
		return nil, err
	}
	if db == nil && s.m.cfg.SQLite == nil {
		return noDatabase()
	}
	if s.m.cfg.SQLite == nil {
		return nil, refuse(protocol.UnsupportedOperation, "this build reads no SQLite states")
	}
	return s.readDatabase(dir)
}

func noDatabase() (*Result, error) {
	return answerWith(struct {
		Backend  string  `json:"backend"`
		State    *string `json:"state"`
		Readable *string `json:"readable"`
	}{"sqlite", nil, nil})
}

// readDatabase has the database read by its path, as SQLite knows no other way, and makes
// sure that it is the one in dir.
func (s *session) readDatabase(dir *safepath.Dir) (*Result, error) {
	opened := func() error { return dir.Opened(databaseFile, databaseFile+"-wal", databaseFile+"-shm") }
	snap, err := s.m.cfg.SQLite.ReadState(context.Background(), filepath.Join(dir.Path(), databaseFile), opened)
	switch {
	case errors.Is(err, ErrNoState):
		return noDatabase()
	case errors.Is(err, ErrStateSchema):
		return nil, refuse(protocol.StateSchema, databaseFile+": has another schema")
	case errors.Is(err, ErrStateCorrupt):
		return nil, refuse(protocol.StateCorrupt, databaseFile+": is damaged")
	case err != nil:
		return nil, err
	}
	s.others = append(s.others, func() { _ = snap.Close() })
	text, err := s.checked(dir, readableFile, statefile.CheckText)
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) error {
		if _, err := io.WriteString(w, `{"backend":"sqlite","state":`); err != nil {
			return err
		}
		if err := snap.WriteState(w); err != nil {
			return err
		}
		if _, err := io.WriteString(w, `,"readable":`); err != nil {
			return err
		}
		if err := text.CopyTo(w, statefile.CopyText); err != nil {
			return err
		}
		tail, err := marshal(struct {
			Revision    *uint64 `json:"revision,omitzero"`
			OperationID *string `json:"operation_id,omitzero"`
		}{snap.Revision(), snap.OperationID()})
		if err != nil {
			return err
		}
		if len(tail) > len("{}") {
			tail[0] = ','
			_, err = w.Write(tail)
		} else {
			_, err = io.WriteString(w, "}")
		}
		return err
	}
	return &Result{stream: write, close: s.close}, nil
}
