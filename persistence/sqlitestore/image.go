package sqlitestore

import (
	"errors"

	"simplex/state"
)

// Bytes of a database's header: which journal it is read and written with.
const (
	headerWriteVersion = 18
	headerReadVersion  = 19
	versionWAL         = 2
)

// buildImage gives the bytes of a database that holds st, closed and in WAL mode, and
// makes st the base.
func buildImage(b *base, st *state.State, s stamp) (image []byte, err error) {
	c, err := dial("new", inMemory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := create(c); err != nil {
		return nil, err
	}
	*b = base{}
	w := &saver{c: c}
	w.step(LabelBegin, sqlBegin)
	w.write(b, st, s, true)
	w.step(LabelCommit, sqlCommit)
	if w.err != nil {
		return nil, w.err
	}
	if image, err = c.c.Serialize("main"); err != nil {
		return nil, err
	}
	b.messages = w.messages
	image[headerWriteVersion], image[headerReadVersion] = versionWAL, versionWAL
	return image, nil
}
