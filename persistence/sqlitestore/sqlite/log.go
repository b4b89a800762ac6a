package sqlite

import sqlite3 "github.com/mattn/go-sqlite3"

// KeepLog says whether closing the last connection leaves the log in place.
func (c *Conn) KeepLog(keep bool) error {
	n := 0
	if keep {
		n = 1
	}
	return fault(c.path, c.c.SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, n))
}

// Checkpoint moves the log into the file and tells whether all of it went. The kind is
// the word of PRAGMA wal_checkpoint: PASSIVE waits for nobody, TRUNCATE empties the log.
func (c *Conn) Checkpoint(kind string) (bool, error) {
	row, err := c.One("PRAGMA wal_checkpoint("+kind+")", 3)
	return err == nil && row[0] == 0 && row[1] == row[2], err
}
