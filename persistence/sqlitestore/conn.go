package sqlitestore

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

// conn is one connection, used without database/sql: no pool, no goroutine, statements
// kept. It is for one goroutine at a time, so SQLite takes no lock at each call of its own.
type conn struct {
	c    *sqlite3.SQLiteConn
	path string
	kept map[string]*sqlite3.SQLiteStmt
}

// access says how a database is opened. No mode creates a file at path.
type access string

const (
	readWrite access = "mode=rw"
	readOnly  access = "mode=ro"
	// noSpace is readOnly without a write to the shared memory. Where no process has the
	// database open, the index of the log is in this process's own memory.
	noSpace access = "mode=ro&readonly_shm=1"
	// snapshot reads the file alone: no lock, no log, no shared memory. It is right only
	// where no process has the database open.
	snapshot access = "mode=ro&immutable=1"
	inMemory access = "mode=memory"
)

func dial(path string, how access) (*conn, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	wait := readerWait
	if how == readWrite {
		wait = busyWait
	}
	params := string(how) + "&_mutex=no&_synchronous=FULL&_foreign_keys=on&_busy_timeout=" + strconv.FormatInt(wait.Milliseconds(), 10)
	dsn := (&url.URL{Scheme: "file", Path: full, RawQuery: params}).String()
	c, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
	if err != nil {
		return nil, fault(path, err)
	}
	return &conn{c: c.(*sqlite3.SQLiteConn), path: path, kept: map[string]*sqlite3.SQLiteStmt{}}, nil
}

// script runs statements without parameters once.
func (c *conn) script(sql string) error {
	_, err := c.c.Exec(sql, nil)
	return fault(c.path, err)
}

// run runs one kept statement to its end. It goes through Query, because the driver
// then resets, binds and steps in one crossing into C instead of one for each parameter.
// A statement that is at its end holds nothing and needs no second crossing to be closed.
func (c *conn) run(sql string, args ...driver.Value) error {
	rows, err := c.query(sql, args)
	if err != nil {
		return err
	}
	if errors.Is(rows.Next(nil), io.EOF) {
		return nil
	}
	return fault(c.path, rows.Close())
}

func (c *conn) query(sql string, args []driver.Value) (driver.Rows, error) {
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

// rows starts a query; what goes wrong, now or later, is in the cursor.
func (c *conn) rows(sql string, columns int, args ...driver.Value) *cursor {
	k := &cursor{path: c.path, vals: make([]driver.Value, columns)}
	k.rows, k.err = c.query(sql, args)
	k.advance()
	return k
}

// one reads the integers of a single row.
func (c *conn) one(sql string, columns int) ([]int64, error) {
	k := c.rows(sql, columns)
	defer k.close()
	out := make([]int64, columns)
	for i := range out {
		out[i] = k.num(i)
	}
	if k.err == nil && !k.ok {
		return nil, io.EOF
	}
	return out, k.err
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.kept {
		errs = append(errs, s.Close())
	}
	clear(c.kept)
	return errors.Join(append(errs, fault(c.path, c.c.Close()))...)
}
