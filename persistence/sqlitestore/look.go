package sqlitestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"simplex/internal/durable"
	"simplex/persistence/sqlitestore/sqlite"
	"simplex/persistence/sqlitestore/table"
)

// sight is what stands at a database's path and beside it, seen without opening a file:
// closing a descriptor of a database drops the locks that SQLite holds on it for the
// whole process.
type sight struct {
	database, log, shared, journal fs.FileInfo // nil: missing
}

// look sees the database last: it is published before its log is made, so a log without
// one is no matter of the moment.
func look(path string) (sight, error) {
	var s sight
	for _, file := range []struct {
		suffix string
		at     *fs.FileInfo
	}{{"-wal", &s.log}, {"-shm", &s.shared}, {"-journal", &s.journal}, {"", &s.database}} {
		info, err := os.Lstat(path + file.suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return sight{}, fmt.Errorf("database %s: %w", path, err)
		}
		if !info.Mode().IsRegular() {
			return sight{}, sqlite.Corrupt(path+file.suffix, durable.ErrNotRegular)
		}
		*file.at = info
	}
	return s, nil
}

// logged tells whether something may stand in the log.
func (s sight) logged() bool { return s.log != nil && s.log.Size() > 0 }

// check refuses what SQLite would take for an empty database or change on sight.
func (s sight) check(path string) error {
	switch {
	case s.database == nil && s.logged():
		return sqlite.Corrupt(path, ErrMissingDatabase)
	case s.database == nil:
		return nil
	case s.database.Size() == 0:
		return &SchemaError{Path: path, Empty: true}
	case s.journal != nil && s.journal.Size() > 0:
		return fmt.Errorf("database %s: %w: a rollback journal is there", path, ErrJournalMode)
	}
	return nil
}

// same tells whether the database file is the one seen before and was not written since.
func (s sight) same(before sight) bool {
	return s.database != nil && os.SameFile(s.database, before.database) && s.database.Size() == before.database.Size() &&
		changedAt(s.database) == changedAt(before.database)
}

func changedAt(info fs.FileInfo) syscall.Timespec {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim
	}
	return syscall.Timespec{}
}

// checkHeader reads the file's first bytes. Only for a process that has no connection to
// the database at that moment: closing the descriptor would drop the connection's locks.
func checkHeader(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("database %s: %w", path, err)
	}
	defer f.Close()
	var head [100]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return sqlite.Corrupt(path, fmt.Errorf("it is no SQLite database: %w", errors.Join(err, sqlite.ErrShape)))
	}
	id, version := binary.BigEndian.Uint32(head[68:]), binary.BigEndian.Uint32(head[60:])
	if id != table.ApplicationID {
		version = 0
	}
	if version != table.Version {
		return &SchemaError{Path: path, Got: int(int32(version))}
	}
	if head[18] != 2 || head[19] != 2 {
		return fmt.Errorf("database %s: %w", path, ErrJournalMode)
	}
	return nil
}
