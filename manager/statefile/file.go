package statefile

import (
	"fmt"
	"hash/maphash"
	"io"

	"simplex/internal/safepath"
)

// File is a file that was read once and will be read again. Its owner may write into it
// meanwhile and set its times back, so the two readings are compared by a hash that
// nobody outside this process can aim at. It is for one goroutine, and nil is a file that
// is missing.
type File struct {
	file *safepath.File
	seed maphash.Seed
	sum  uint64 // of the first reading
}

// Check reads f from where it stands to its end with check, which is CheckObject or
// CheckText, and fails with its error. f stays open and its opener's to close.
func Check(f *safepath.File, check func(io.Reader) error) (*File, error) {
	c := &File{file: f, seed: maphash.MakeSeed()}
	var err error
	c.sum, err = c.read(check)
	return c, err
}

// read hands the whole file to use and gives the hash of its bytes.
func (c *File) read(use func(io.Reader) error) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	if err := use(io.TeeReader(c.file, &h)); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}

// CopyTo writes the file's content with CopyObject or CopyText, or null for a missing
// file. A file that is not what was checked makes it fail rather than lie; what was
// written by then is no value.
func (c *File) CopyTo(w io.Writer, content func(io.Writer, io.Reader) error) error {
	if c == nil {
		_, err := io.WriteString(w, "null")
		return err
	}
	if err := c.file.Rewind(); err != nil {
		return err
	}
	sum, err := c.read(func(r io.Reader) error { return content(w, r) })
	if err == nil && sum != c.sum {
		err = fmt.Errorf("%s: changed while it was read", c.file.Path())
	}
	return err
}
