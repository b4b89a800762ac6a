package manager

import (
	"fmt"
	"hash/maphash"
	"io"

	"simplex/internal/safepath"
)

// checkedFile is a file that was read once and will be read again. Its owner may write
// into it meanwhile and set its times back, so the two readings are compared by a hash
// that nobody outside this process can aim at.
type checkedFile struct {
	file *safepath.File
	seed maphash.Seed
	sum  uint64 // of the first reading
}

// read hands the whole file to use and gives the hash of its bytes.
func (c *checkedFile) read(use func(io.Reader) error) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	if err := use(io.TeeReader(c.file, &h)); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}

// copyTo writes the file's content, or null for none. A file that is not what was checked
// makes the response fail rather than lie.
func (c *checkedFile) copyTo(w io.Writer, content func(io.Writer, io.Reader) error) error {
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
