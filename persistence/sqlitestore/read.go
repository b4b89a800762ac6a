package sqlitestore

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"syscall"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
	"simplex/state"
)

// Info says which save a document is.
type Info struct {
	Revision    int64
	OperationID string
}

// Read writes the session in the database at path to w, as one compact JSON document,
// turn by turn: the document of the JSON store but for white space. It may run while a
// worker writes; it sees one save whole. After an error what w got is worthless.
//
// It creates, changes and migrates nothing. A log beside the database is read through a
// read-only connection, as long as the shared memory that belongs to it is there
// (ErrNeedsOwner otherwise). Without a log nobody has the database open: then the file
// is read as it is, without locks and without SQLite's making a log, and afterwards it
// is checked that nobody opened or changed it meanwhile (ErrChanged: read again).
//
// The other errors are those of Store.Load, and ErrNoState where there is no database,
// whatever else stands beside it. Links in path but the last component are followed. Not
// for the process that has the session open: see checkHeader.
func Read(ctx context.Context, path string, w io.Writer) (Info, error) {
	return ReadOpened(ctx, path, nil, w)
}

// ReadOpened is Read for a path that others may bend: opened is called while the
// transaction holds the files open, and its error is Read's.
func ReadOpened(ctx context.Context, path string, opened func() error, w io.Writer) (Info, error) {
	seen, err := look(path)
	if err == nil {
		err = seen.check(path)
	}
	switch {
	case err != nil:
		return Info{}, err
	case seen.database == nil:
		return Info{}, fmt.Errorf("database %s: %w", path, ErrNoState)
	case seen.logged() && seen.shared == nil:
		return Info{}, fmt.Errorf("database %s: %w", path, ErrNeedsOwner)
	case seen.log != nil && seen.shared != nil:
		return readWith(ctx, path, sqlite.ReadOnly, opened, w)
	}
	if err := checkHeader(path); err != nil {
		return Info{}, err
	}
	info, err := readWith(ctx, path, sqlite.Snapshot, opened, w)
	if changed := unchanged(path, seen, info.Revision); changed != nil {
		return Info{}, changed
	}
	return info, err
}

// unchanged looks at everything by which a writer since the first look would show: the
// log that it has while it is there, the save that it made, the file that it wrote. A
// file is written only by an owner that has a log, until the log is in it whole.
func unchanged(path string, before sight, revision int64) error {
	changed := fmt.Errorf("database %s: %w", path, ErrChanged)
	if revision != 0 {
		c, err := sqlite.Dial(path, sqlite.Snapshot)
		if err != nil {
			return changed
		}
		now, err := table.ReadStanding(c)
		if _ = c.Close(); err != nil || now.Revision != revision {
			return changed
		}
	}
	if now, err := look(path); err != nil || now.logged() || !now.same(before) {
		return changed
	}
	return nil
}

func readWith(ctx context.Context, path string, how sqlite.Access, opened func() error, w io.Writer) (info Info, err error) {
	c, err := dialReader(path, how)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Run(sqlite.BeginRead); err != nil {
		return Info{}, err
	}
	defer func() { _ = c.Run(sqlite.Rollback) }()
	h, err := table.ReadHead(c)
	switch {
	case errors.Is(err, io.EOF):
		return Info{}, sqlite.Corrupt(path, fmt.Errorf("%w: there is no session", sqlite.ErrShape))
	case err != nil:
		return Info{}, err
	case how == sqlite.Snapshot && h.Mark != table.MarkClosed:
		return Info{}, sqlite.Corrupt(path, ErrMissingLog)
	}
	if opened != nil {
		if err := opened(); err != nil {
			return Info{}, fmt.Errorf("database %s: %w", path, err)
		}
	}
	info = Info{Revision: h.Revision, OperationID: h.Operation}
	return info, stream(ctx, c, h, w)
}

// dialReader opens a database for one read. The first to open a killed owner's database
// fills the shared memory anew, which a full disk has no room for; it reads without.
func dialReader(path string, how sqlite.Access) (*sqlite.Conn, error) {
	c, err := sqlite.Dial(path, how)
	if err == nil && how != sqlite.Snapshot {
		if err = checkKind(c); err != nil {
			err = errors.Join(err, c.Close())
		}
	}
	if err == nil {
		return c, nil
	}
	if how == sqlite.ReadOnly && errors.Is(err, syscall.ENOSPC) {
		return dialReader(path, sqlite.NoSpace)
	}
	return nil, err
}

// checkKind is checkHeader through a connection.
func checkKind(c *sqlite.Conn) error {
	id, err := c.One("PRAGMA application_id", 1)
	if err != nil {
		return err
	}
	version, err := c.One("PRAGMA user_version", 1)
	if err != nil {
		return err
	}
	if id[0] != table.ApplicationID {
		version[0] = 0
	}
	if version[0] != table.Version {
		return &SchemaError{Path: c.Path(), Got: int(version[0])}
	}
	k := c.Rows("PRAGMA journal_mode", 1)
	defer k.Close()
	if k.Err() == nil && k.Text(0) != "wal" {
		k.Fail(fmt.Errorf("database %s: %w", c.Path(), ErrJournalMode))
	}
	return k.Err()
}

// stream writes the head as a document without turns, and the turns into it.
func stream(ctx context.Context, c *sqlite.Conn, h *table.Head, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var before, after []state.Member // unknown members around "turns", the last known one
	for name, v := range h.State.Unknown.All() {
		m := state.Member{Name: name, Value: v}
		if name < "turns" {
			before = append(before, m)
		} else {
			after = append(after, m)
		}
	}
	h.State.Unknown = state.Object{}
	if before != nil {
		h.State.Unknown = state.ObjectFrom(before)
	}
	front, err := json.Marshal(h.State)
	if err != nil {
		return err
	}
	_, _ = out.Write(front[:len(front)-len("]}")]) // a bufio.Writer keeps its first error
	comma := ""
	err = table.EachTurn(c, h, func(_ int64, t *state.Turn) error {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("read %s: %w", c.Path(), err)
		}
		_, _ = out.WriteString(comma)
		comma = ","
		return json.MarshalWrite(out, t)
	})
	if err != nil {
		return err
	}
	_, _ = out.WriteString("]")
	if after != nil {
		rest := state.ObjectFrom(after).String()
		_, _ = out.WriteString("," + rest[1:len(rest)-1])
	}
	_, _ = out.WriteString("}")
	return out.Flush()
}
