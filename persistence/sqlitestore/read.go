package sqlitestore

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"syscall"

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
		return readWith(ctx, path, readOnly, opened, w)
	}
	if err := checkHeader(path); err != nil {
		return Info{}, err
	}
	info, err := readWith(ctx, path, snapshot, opened, w)
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
		c, err := dial(path, snapshot)
		if err != nil {
			return changed
		}
		now, err := readStanding(c)
		if _ = c.close(); err != nil || now.revision != revision {
			return changed
		}
	}
	if now, err := look(path); err != nil || now.logged() || !now.same(before) {
		return changed
	}
	return nil
}

func readWith(ctx context.Context, path string, how access, opened func() error, w io.Writer) (info Info, err error) {
	c, err := dialReader(path, how)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.run(sqlRead); err != nil {
		return Info{}, err
	}
	defer func() { _ = c.run(sqlRollback) }()
	h, err := readHead(c)
	switch {
	case errors.Is(err, io.EOF):
		return Info{}, corrupt(path, fmt.Errorf("%w: there is no session", errShape))
	case err != nil:
		return Info{}, err
	case how == snapshot && h.open != int64(markClosed):
		return Info{}, corrupt(path, ErrMissingLog)
	}
	if opened != nil {
		if err := opened(); err != nil {
			return Info{}, fmt.Errorf("database %s: %w", path, err)
		}
	}
	info = Info{Revision: h.revision, OperationID: h.operation}
	return info, stream(ctx, c, h, w)
}

// dialReader opens a database for one read. The first to open a killed owner's database
// fills the shared memory anew, which a full disk has no room for; it reads without.
func dialReader(path string, how access) (*conn, error) {
	c, err := dial(path, how)
	if err == nil && how != snapshot {
		if err = checkKind(c); err != nil {
			err = errors.Join(err, c.close())
		}
	}
	if err == nil {
		return c, nil
	}
	if how == readOnly && errors.Is(err, syscall.ENOSPC) {
		return dialReader(path, noSpace)
	}
	return nil, err
}

// checkKind is checkHeader through a connection.
func checkKind(c *conn) error {
	id, err := c.one("PRAGMA application_id", 1)
	if err != nil {
		return err
	}
	version, err := c.one("PRAGMA user_version", 1)
	if err != nil {
		return err
	}
	if id[0] != applicationID {
		version[0] = 0
	}
	if version[0] != SchemaVersion {
		return &SchemaError{Path: c.path, Got: int(version[0])}
	}
	k := c.rows("PRAGMA journal_mode", 1)
	defer k.close()
	if k.err == nil && k.text(0) != "wal" {
		k.fail(fmt.Errorf("database %s: %w", c.path, ErrJournalMode))
	}
	return k.err
}

// stream writes the head as a document without turns, and the turns into it.
func stream(ctx context.Context, c *conn, h *head, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var before, after []state.Member // unknown members around "turns", the last known one
	for name, v := range h.st.Unknown.All() {
		m := state.Member{Name: name, Value: v}
		if name < "turns" {
			before = append(before, m)
		} else {
			after = append(after, m)
		}
	}
	h.st.Unknown = state.Object{}
	if before != nil {
		h.st.Unknown = state.ObjectFrom(before)
	}
	front, err := json.Marshal(h.st)
	if err != nil {
		return err
	}
	_, _ = out.Write(front[:len(front)-len("]}")]) // a bufio.Writer keeps its first error
	comma := ""
	err = eachTurn(c, h, func(_ int64, t *state.Turn) error {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("read %s: %w", c.path, err)
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
