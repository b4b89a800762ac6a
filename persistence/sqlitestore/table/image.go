package table

import (
	"errors"

	"simplex/persistence/sqlitestore/sqlite"
	"simplex/state"
)

// Bytes of a database's header: which journal it is read and written with.
const (
	headerWriteVersion = 18
	headerReadVersion  = 19
	versionWAL         = 2
)

// Image gives the bytes of a database that holds st, closed and in WAL mode, and numbers
// st's records in the base. Where st is published and stays, Remember follows.
func (b *Base) Image(st *state.State, s Stamp) (image []byte, err error) {
	c, err := sqlite.Dial("new", sqlite.InMemory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := create(c); err != nil {
		return nil, err
	}
	*b = Base{}
	w := &saver{c: c}
	w.step(LabelBegin, sqlite.Begin)
	w.write(b, st, s, true)
	w.step(LabelCommit, sqlite.Commit)
	if w.err != nil {
		return nil, w.err
	}
	if image, err = c.Serialize(); err != nil {
		return nil, err
	}
	b.messages = w.messages
	image[headerWriteVersion], image[headerReadVersion] = versionWAL, versionWAL
	return image, nil
}
