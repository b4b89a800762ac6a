package sqlitestore

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"
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
	var file, now standing
	if seen.logged() {
		// A connection that could write would move the log into the file when it is
		// closed. Until both are known to be sound, nothing may change.
		if file, now, err = s.recoverable(); err != nil {
			return err
		}
	}
	c, err := dial(s.path, readWrite)
	if err != nil {
		return err
	}
	if !seen.logged() {
		now, err = readStanding(c)
		if err == nil && now.mark != markClosed {
			err = corrupt(s.path, ErrMissingLog)
		}
	}
	if err == nil {
		err = s.prepare(c)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	s.c, s.mark = c, now.mark
	if now.mark != markClosed && file.mark == markClosed {
		s.mark = markUnsure
	}
	if !s.known {
		s.base.revision = now.revision
	}
	return nil
}

// prepare makes sure that the database can be written, and sets what is not in its file.
func (s *Store) prepare(c *conn) error {
	err := c.run(sqlBegin)
	if err == nil {
		err = c.run(sqlRollback)
	}
	if err == nil {
		err = c.limitLog()
	}
	if err == nil {
		err = c.script("PRAGMA temp_store = MEMORY")
	}
	if err == nil {
		err = c.keepLog(true)
	}
	return err
}

// limitLog sets logSize, which SQLite counts in pages.
func (c *conn) limitLog() error {
	page, err := c.one("PRAGMA page_size", 1)
	if err != nil {
		return err
	}
	return c.script("PRAGMA wal_autocheckpoint = " + strconv.FormatInt(logSize/page[0], 10))
}

// recoverable examines a database whose last owner did not close it.
func (s *Store) recoverable() (file, now standing, err error) {
	if c, err := dial(s.path, snapshot); err == nil {
		file, _ = readStanding(c) // perhaps torn by a checkpoint; then the log has it whole
		_ = c.close()
	}
	c, err := dial(s.path, readOnly)
	if err != nil {
		return file, now, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if now, err = readStanding(c); err != nil {
		return file, now, err
	}
	if file.known && (now.revision < file.revision || file.mark == markClosed && now.mark == markOpen && now.revision > file.revision) {
		return file, now, corrupt(s.path, ErrForeignLog)
	}
	if err := s.ownLog(c); err != nil {
		return file, now, err
	}
	began := time.Now()
	if err := checkIntegrity(c); err != nil {
		return file, now, err
	}
	s.log.Warn("session was not closed by its last owner; the database is sound",
		"path", s.path, "revision", now.revision, "check", time.Since(began))
	return file, now, nil
}

// ownLog refuses another session, before its log is moved into its file and before it is
// replaced.
func (s *Store) ownLog(c *conn) error {
	k := c.rows("SELECT session_id FROM session", 1)
	defer k.close()
	if id := k.text(0); k.err == nil && s.session != "" && id != s.session {
		return s.own(id)
	}
	return k.err
}

// checkIntegrity reads every page, and every reference between rows.
func checkIntegrity(c *conn) error {
	k := c.rows("PRAGMA integrity_check(1)", 1)
	defer k.close()
	if found := k.text(0); k.err == nil && found != "ok" {
		k.fail(corrupt(c.path, fmt.Errorf("integrity check: %s", found)))
	}
	if k.err != nil {
		return k.err
	}
	refs := c.rows("PRAGMA foreign_key_check", 4)
	defer refs.close()
	if refs.ok {
		refs.wrong("a row refers to one that is missing")
	}
	return refs.err
}
