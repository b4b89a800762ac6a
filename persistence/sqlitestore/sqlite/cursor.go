package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Cursor stands on one row of a query. The first error sticks and ends the rows.
type Cursor struct {
	rows driver.Rows
	path string
	vals []driver.Value
	ok   bool // there is a row
	err  error
}

// OK tells whether there is a row.
func (k *Cursor) OK() bool { return k.ok }

// Err is the first error, also of a column or a Fail.
func (k *Cursor) Err() error { return k.err }

// Path is the database's.
func (k *Cursor) Path() string { return k.path }

// Advance goes to the next row, or past the last one. After an error there is none.
func (k *Cursor) Advance() {
	k.ok = false
	if k.err != nil || k.rows == nil {
		return
	}
	err := k.rows.Next(k.vals)
	if errors.Is(err, io.EOF) {
		return
	}
	k.Fail(fault(k.path, err))
	k.ok = k.err == nil
}

// Fail makes err the cursor's error, unless it has one or err is nil.
func (k *Cursor) Fail(err error) {
	if k.err == nil && err != nil {
		k.err = err
	}
}

// Close ends the query. It may be called more than once.
func (k *Cursor) Close() {
	if k.rows != nil {
		k.Fail(fault(k.path, k.rows.Close()))
		k.rows = nil
	}
}

// Wrong fails with a *persistence.CorruptError that wraps ErrShape.
func (k *Cursor) Wrong(format string, args ...any) {
	k.Fail(Corrupt(k.path, fmt.Errorf("%w: %s", ErrShape, fmt.Sprintf(format, args...))))
}

// Raw is column i as the driver gave it.
func (k *Cursor) Raw(i int) driver.Value { return k.vals[i] }

// Null tells whether column i is NULL. Without a row every column is what it was.
func (k *Cursor) Null(i int) bool { return k.vals[i] == nil }

// Num is an integer. On a row, anything else is Wrong.
func (k *Cursor) Num(i int) int64 {
	n, ok := k.vals[i].(int64)
	if !ok && k.ok {
		k.Wrong("a number is missing")
	}
	return n
}

// Text is a text. On a row, anything else is Wrong, and so is a text that is not UTF-8.
func (k *Cursor) Text(i int) string {
	s, ok := k.vals[i].(string)
	if k.ok && (!ok || !utf8.ValidString(s)) {
		k.Wrong("a text is not valid")
	}
	return s
}
