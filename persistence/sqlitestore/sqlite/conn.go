package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// How long a lock of another program is waited for. A reader's caller can ask again.
const (
	busyWait   = 5 * time.Second
	readerWait = 500 * time.Millisecond
)

// Conn is one connection, used without database/sql: no pool, no goroutine, statements
// kept. It is for one goroutine at a time, so SQLite takes no lock at each call of its own.
type Conn struct {
	c    *sqlite3.SQLiteConn
	path string
	kept map[string]*sqlite3.SQLiteStmt
}

// The statements of a transaction.
const (
	Begin     = "BEGIN IMMEDIATE" // to write
	BeginRead = "BEGIN"
	Commit    = "COMMIT"
	Rollback  = "ROLLBACK"
)

// Access says how a database is opened. No mode creates a file at path.
type Access string

const (
	// ReadWrite is an owner's. It may make a log and shared memory beside the database.
	ReadWrite Access = "mode=rw"
	// ReadOnly reads with locks, the log and the shared memory.
	ReadOnly Access = "mode=ro"
	// NoSpace is ReadOnly without a write to the shared memory. Where no process has the
	// database open, the index of the log is in this process's own memory.
	NoSpace Access = "mode=ro&readonly_shm=1"
	// Snapshot reads the file alone: no lock, no log, no shared memory. It is right only
	// where no process has the database open.
	Snapshot Access = "mode=ro&immutable=1"
	// InMemory is a new database without a file; its path is only a name in errors.
	InMemory Access = "mode=memory"
)

// Dial opens the database at path, which may be relative. What is wrong with the file may
// show only at the first statement.
func Dial(path string, how Access) (*Conn, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	wait := readerWait
	if how == ReadWrite {
		wait = busyWait
	}
	params := string(how) + "&_mutex=no&_synchronous=FULL&_foreign_keys=on&_busy_timeout=" + strconv.FormatInt(wait.Milliseconds(), 10)
	dsn := (&url.URL{Scheme: "file", Path: full, RawQuery: params}).String()
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		return nil, fault(path, err)
	}
	return &Conn{c: c.(*sqlite3.SQLiteConn), path: path, kept: map[string]*sqlite3.SQLiteStmt{}}, nil
}

// Script runs statements without parameters once. They may be several, with ; between.
func (c *Conn) Script(sql string) error {
	_, err := c.c.Exec(sql, nil)
	return fault(c.path, err)
}

// Run runs one kept statement to its end. It goes through Query, because the driver
// then resets, binds and steps in one crossing into C instead of one for each parameter.
// A statement that is at its end holds nothing and needs no second crossing to be closed.
func (c *Conn) Run(sql string, args ...driver.Value) error {
	rows, err := c.query(sql, args)
	if err != nil {
		return err
	}
	if errors.Is(rows.Next(nil), io.EOF) {
		return nil
	}
	return fault(c.path, rows.Close())
}

func (c *Conn) query(sql string, args []driver.Value) (driver.Rows, error) {
	s, ok := c.kept[sql]
	if !ok {
		stmt, err := c.c.Prepare(sql)
		if err != nil {
			return nil, fault(c.path, err)
		}
		s = stmt.(*sqlite3.SQLiteStmt)
		c.kept[sql] = s
	}
	rows, err := s.Query(args)
	return rows, fault(c.path, err)
}

// Rows starts a query that gives that many columns, and stands on its first row. What goes
// wrong, now or later, is in the cursor, which the caller closes.
func (c *Conn) Rows(sql string, columns int, args ...driver.Value) *Cursor {
	k := &Cursor{path: c.path, vals: make([]driver.Value, columns)}
	k.rows, k.err = c.query(sql, args)
	k.Advance()
	return k
}

// One reads the integers of a single row; io.EOF: there is none.
func (c *Conn) One(sql string, columns int) ([]int64, error) {
	k := c.Rows(sql, columns)
	defer k.Close()
	out := make([]int64, columns)
	for i := range out {
		out[i] = k.Num(i)
	}
	if k.err == nil && !k.ok {
		return nil, io.EOF
	}
	return out, k.err
}

// Serialize gives the bytes of the database.
func (c *Conn) Serialize() ([]byte, error) { return c.c.Serialize("main") }

// Path is the one that Dial got.
func (c *Conn) Path() string { return c.path }

// Close closes the statements and the connection. Cursors must be closed before.
func (c *Conn) Close() error {
	var errs []error
	for _, s := range c.kept {
		errs = append(errs, s.Close())
	}
	clear(c.kept)
	return errors.Join(append(errs, fault(c.path, c.c.Close()))...)
}
