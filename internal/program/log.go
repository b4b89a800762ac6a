package program

import (
	"bufio"
	"errors"
	"log/slog"
	"slices"
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
		said := text.Display(strings.TrimRight(string(line), "\r\n"))
		if !skip && strings.TrimSpace(said) != "" {
			c.remember(said)
		}
		if len(line) > 0 && !skip && lines <= maxLogLines {
			if lines++; lines <= maxLogLines {
				logger.Debug(speaker+" says", "stderr", said)
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

// maxLastWords is how many lines of standard error LastWords gives.
const maxLastWords = 3

func (c *Child) remember(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) == maxLastWords {
		c.words = slices.Delete(c.words, 0, 1)
	}
	c.words = append(c.words, line)
}

// LastWords gives the last lines that the program wrote to standard error, blank ones
// aside, for a message about its end; after End these are all that there will be.
func (c *Child) LastWords() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.words, "; ")
}
