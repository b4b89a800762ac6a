package table

import (
	"errors"
	"fmt"
	"io"

	"simplex/persistence/sqlitestore/sqlite"
)

// Mark is session.open: whether the database is in use and saves may stand in the log
// alone.
type Mark int64

const (
	MarkClosed Mark = 0
	MarkOpen   Mark = 1 // and the file itself is known to have a mark
	MarkUnsure Mark = 2 // open, but a reader may have kept the mark out of the file
)

// Standing is what a database says of itself. Without a transaction begun it is that of
// the last commit.
type Standing struct {
	Revision int64
	Mark     Mark
	Known    bool // it was read
}

// ReadStanding reads it. A database without a session is a *persistence.CorruptError.
func ReadStanding(c *sqlite.Conn) (Standing, error) {
	row, err := c.One(sqlGetMark, 2)
	if errors.Is(err, io.EOF) {
		err = sqlite.Corrupt(c.Path(), fmt.Errorf("%w: there is no session", sqlite.ErrShape))
	}
	if err != nil {
		return Standing{}, err
	}
	return Standing{row[0], Mark(row[1]), true}, nil
}

// SessionID tells whose database it is; "" where there is no session.
func SessionID(c *sqlite.Conn) (string, error) {
	k := c.Rows(sqlGetOwner, 1)
	defer k.Close()
	id := k.Text(0)
	return id, k.Err()
}
