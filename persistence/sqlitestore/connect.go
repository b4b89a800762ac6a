package sqlitestore

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
)

// logSize is the length of the log, in bytes of pages, at which SQLite itself checkpoints.
// Saves at calm boundaries do it earlier.
const logSize = 8 << 20

// writable is W_OK of access(2).
const writable = 2

// connect opens the database if it is there and sound; s.c stays nil where there is none.
func (s *Store) connect() error {
	if s.c != nil {
		return nil
	}
	seen, err := look(s.path)
	if err == nil {
		err = seen.check(s.path)
	}
	if err != nil || seen.database == nil {
		return err
	}
	if err := checkHeader(s.path); err != nil {
		return err
	}
	// SQLite would open it all the same, and make a log that nobody else can write.
	if err := syscall.Access(s.path, writable); err != nil {
		return fmt.Errorf("database %s: %w: %w", s.path, ErrReadOnly, err)
	}
	var file, now table.Standing
	if seen.logged() {
		// A connection that could write would move the log into the file when it is
		// closed. Until both are known to be sound, nothing may change.
		if file, now, err = s.recoverable(); err != nil {
			return err
		}
	}
	c, err := sqlite.Dial(s.path, sqlite.ReadWrite)
	if err != nil {
		return err
	}
	if !seen.logged() {
		now, err = table.ReadStanding(c)
		if err == nil && now.Mark != table.MarkClosed {
			err = sqlite.Corrupt(s.path, ErrMissingLog)
		}
	}
	if err == nil {
		err = s.prepare(c)
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	s.c, s.mark = c, now.Mark
	if now.Mark != table.MarkClosed && file.Mark == table.MarkClosed {
		s.mark = table.MarkUnsure
	}
	if !s.known {
		s.revision = now.Revision
	}
	return nil
}

// prepare makes sure that the database can be written, and sets what is not in its file.
func (s *Store) prepare(c *sqlite.Conn) error {
	err := c.Run(sqlite.Begin)
	if err == nil {
		err = c.Run(sqlite.Rollback)
	}
	if err == nil {
		err = limitLog(c)
	}
	if err == nil {
		err = c.Script("PRAGMA temp_store = MEMORY")
	}
	if err == nil {
		err = c.KeepLog(true)
	}
	return err
}

// limitLog sets logSize, which SQLite counts in pages.
func limitLog(c *sqlite.Conn) error {
	page, err := c.One("PRAGMA page_size", 1)
	if err != nil {
		return err
	}
	return c.Script("PRAGMA wal_autocheckpoint = " + strconv.FormatInt(logSize/page[0], 10))
}

// recoverable examines a database whose last owner did not close it.
func (s *Store) recoverable() (file, now table.Standing, err error) {
	if c, err := sqlite.Dial(s.path, sqlite.Snapshot); err == nil {
		file, _ = table.ReadStanding(c) // perhaps torn by a checkpoint; then the log has it whole
		_ = c.Close()
	}
	c, err := sqlite.Dial(s.path, sqlite.ReadOnly)
	if err != nil {
		return file, now, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if now, err = table.ReadStanding(c); err != nil {
		return file, now, err
	}
	if file.Known && (now.Revision < file.Revision || file.Mark == table.MarkClosed && now.Mark == table.MarkOpen && now.Revision > file.Revision) {
		return file, now, sqlite.Corrupt(s.path, ErrForeignLog)
	}
	if err := s.ownLog(c); err != nil {
		return file, now, err
	}
	began := time.Now()
	if err := checkIntegrity(c); err != nil {
		return file, now, err
	}
	s.log.Warn("session was not closed by its last owner; the database is sound",
		"path", s.path, "revision", now.Revision, "check", time.Since(began))
	return file, now, nil
}

// ownLog refuses another session, before its log is moved into its file and before it is
// replaced.
func (s *Store) ownLog(c *sqlite.Conn) error {
	id, err := table.SessionID(c)
	if err == nil && s.session != "" && id != s.session {
		return s.own(id)
	}
	return err
}

// checkIntegrity reads every page, and every reference between rows.
func checkIntegrity(c *sqlite.Conn) error {
	k := c.Rows("PRAGMA integrity_check(1)", 1)
	defer k.Close()
	if found := k.Text(0); k.Err() == nil && found != "ok" {
		k.Fail(sqlite.Corrupt(c.Path(), fmt.Errorf("integrity check: %s", found)))
	}
	if k.Err() != nil {
		return k.Err()
	}
	refs := c.Rows("PRAGMA foreign_key_check", 4)
	defer refs.Close()
	if refs.OK() {
		refs.Wrong("a row refers to one that is missing")
	}
	return refs.Err()
}
