package sqlitestore

import (
	"errors"
	"fmt"
	"io"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/internal/durable"
)

// mark is session.open: whether the database is in use and saves may stand in the log
// alone. It is set, and brought from the log into the file, before the first save of an
// owner, and taken away by Close. So a log beside a file without the mark, or a file
// with the mark and no log, is seen.
type mark int64

const (
	markClosed mark = 0
	markOpen   mark = 1 // and the file itself is known to have a mark
	markUnsure mark = 2 // open, but a reader may have kept the mark out of the file
)

// standing is what a database says of itself.
type standing struct {
	revision int64
	mark     mark
	known    bool
}

func readStanding(c *conn) (standing, error) {
	row, err := c.one(sqlGetMark, 2)
	if errors.Is(err, io.EOF) {
		err = corrupt(c.path, fmt.Errorf("%w: there is no session", errShape))
	}
	if err != nil {
		return standing{}, err
	}
	return standing{row[0], mark(row[1]), true}, nil
}

// setMark writes the mark in a transaction of its own. It need not be durable before the
// checkpoint that follows, which syncs log and file, so the commit does without.
func (s *Store) setMark(m mark) error {
	if err := s.ask(LabelMark, sqlMark); err != nil {
		return err
	}
	if err := s.c.script("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	err := s.c.run(sqlBegin)
	if err == nil {
		err = s.c.run(sqlMark, int64(m))
	}
	if err == nil {
		err = s.c.run(sqlCommit)
	}
	if err != nil {
		_ = s.c.run(sqlRollback)
	}
	return errors.Join(err, s.c.script("PRAGMA synchronous = FULL"))
}

// settleMark makes sure that the database is marked before a save is committed.
func (s *Store) settleMark() error {
	if s.mark == markOpen {
		return nil
	}
	if s.mark == markClosed {
		if err := s.setMark(markUnsure); err != nil {
			return err
		}
		s.mark = markUnsure
	}
	if err := s.ask(LabelCheckpoint, "PASSIVE"); err != nil {
		return err
	}
	done, err := s.c.checkpoint("PASSIVE")
	if done {
		s.mark = markOpen
	}
	return err
}

// disconnect closes the connection; in order, unless a save failed.
func (s *Store) disconnect() error {
	err := error(nil)
	clean := s.failed == nil
	if clean && s.mark != markClosed {
		clean, err = s.closeMarked()
	}
	if clean {
		err = errors.Join(err, s.c.keepLog(false))
	}
	return errors.Join(err, s.c.close())
}

func (s *Store) closeMarked() (bool, error) {
	// Readers take milliseconds. One that takes longer costs the next start a check.
	err := s.c.script("PRAGMA busy_timeout = 250")
	if err == nil {
		err = s.setMark(markClosed)
	}
	if err == nil {
		err = s.ask(LabelCheckpoint, "TRUNCATE")
	}
	if err != nil {
		return false, err
	}
	return s.c.checkpoint("TRUNCATE")
}

func (s *Store) ask(label, what string) error {
	if s.cfg.Hook == nil {
		return nil
	}
	return s.cfg.Hook(label, durable.Op{Call: callSQL, Name: what})
}

// keepLog says whether closing the last connection leaves the log in place.
func (c *conn) keepLog(keep bool) error {
	n := 0
	if keep {
		n = 1
	}
	return fault(c.path, c.c.SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, n))
}

// checkpoint moves the log into the file and tells whether all of it went.
func (c *conn) checkpoint(kind string) (bool, error) {
	row, err := c.one("PRAGMA wal_checkpoint("+kind+")", 3)
	return err == nil && row[0] == 0 && row[1] == row[2], err
}
