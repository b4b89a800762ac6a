package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	in    *bufio.Reader
	limit int // bytes of a line, its end not counted
}

func newLineReader(in io.Reader, limit int) *lineReader {
	const buffer = 32 << 10
	return &lineReader{in: bufio.NewReaderSize(in, buffer), limit: limit}
}

// next gives the next line that is not blank, in memory of its own. A last line without
// an end comes together with the error that ended the stream.
func (r *lineReader) next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil || len(bytes.Trim(line, " \t\r\n")) > 0 {
			return line, err
		}
	}
}

func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.in.ReadSlice('\n')
		line = append(line, chunk...)
		if size := len(bytes.TrimSuffix(line, []byte("\n"))); size > r.limit {
			return nil, fmt.Errorf("%w: a message of more than %d bytes", ErrProtocol, r.limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
