package sqlitestore

import (
	"errors"

	"simplex/internal/durable"
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
)

// The labels of the mark and of the log, asked of Config.Hook before the statement is run,
// as those of a save are (table.LabelBegin and the others). The Op's Name is the statement,
// or the kind of the checkpoint.
const (
	LabelMark       = "sqlite.mark" // the mark of an open session is set or taken away
	LabelCheckpoint = "sqlite.checkpoint"
)

// setMark writes the mark in a transaction of its own. It need not be durable before the
// checkpoint that follows, which syncs log and file, so the commit does without.
func (s *Store) setMark(m table.Mark) error {
	if err := s.ask(LabelMark, table.SetMark); err != nil {
		return err
	}
	if err := s.c.Script("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	err := s.c.Run(sqlite.Begin)
	if err == nil {
		err = s.c.Run(table.SetMark, int64(m))
	}
	if err == nil {
		err = s.c.Run(sqlite.Commit)
	}
	if err != nil {
		_ = s.c.Run(sqlite.Rollback)
	}
	return errors.Join(err, s.c.Script("PRAGMA synchronous = FULL"))
}

// settleMark makes sure that the database is marked before a save is committed.
//
// The mark is set, and brought from the log into the file, before the first save of an
// owner, and taken away by Close. So a log beside a file without the mark, or a file
// with the mark and no log, is seen.
func (s *Store) settleMark() error {
	if s.mark == table.MarkOpen {
		return nil
	}
	if s.mark == table.MarkClosed {
		if err := s.setMark(table.MarkUnsure); err != nil {
			return err
		}
		s.mark = table.MarkUnsure
	}
	if err := s.ask(LabelCheckpoint, "PASSIVE"); err != nil {
		return err
	}
	done, err := s.c.Checkpoint("PASSIVE")
	if done {
		s.mark = table.MarkOpen
	}
	return err
}

// disconnect closes the connection; in order, unless a save failed.
func (s *Store) disconnect() error {
	err := error(nil)
	clean := s.failed == nil
	if clean && s.mark != table.MarkClosed {
		clean, err = s.closeMarked()
	}
	if clean {
		err = errors.Join(err, s.c.KeepLog(false))
	}
	return errors.Join(err, s.c.Close())
}

func (s *Store) closeMarked() (bool, error) {
	// Readers take milliseconds. One that takes longer costs the next start a check.
	err := s.c.Script("PRAGMA busy_timeout = 250")
	if err == nil {
		err = s.setMark(table.MarkClosed)
	}
	if err == nil {
		err = s.ask(LabelCheckpoint, "TRUNCATE")
	}
	if err != nil {
		return false, err
	}
	return s.c.Checkpoint("TRUNCATE")
}

func (s *Store) ask(label, what string) error {
	if s.cfg.Hook == nil {
		return nil
	}
	return s.cfg.Hook(label, durable.Op{Call: table.CallSQL, Name: what})
}
