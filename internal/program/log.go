package program

import (
	"bufio"
	"errors"
	"log/slog"
	"strings"

	"simplex/internal/text"
)

// What of a program's standard error goes to the log.
const (
	maxLogLine  = 1 << 10 // bytes
	maxLogLines = 1000
)

// log copies standard error to the log, bounded in lines and their length.
func (c *Child) log(logger *slog.Logger, speaker string) {
	defer close(c.logged)
	in := bufio.NewReaderSize(c.stderr, maxLogLine)
	skip := false // the rest of a long line
	for lines := 0; ; {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 && !skip && lines <= maxLogLines {
			if lines++; lines <= maxLogLines {
				logger.Debug(speaker+" says", "stderr", text.Display(strings.TrimRight(string(line), "\r\n")))
			} else {
				logger.Debug(speaker+" says more than is logged", "lines", maxLogLines)
			}
		}
		skip = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !skip {
			return
		}
	}
}
