package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// entry is what /proc/<pid>/stat tells of one process.
type entry struct {
	pid, parent, group int
	session            int
	threads            int
	state              byte
	start              uint64 // ticks since boot: with pid, an identity
}

// living is false for what only waits to be reaped. A process whose first
// thread is gone shows as a zombie although others go on.
func (e entry) living() bool {
	return e.state != 'X' && (e.state != 'Z' || e.threads > 1)
}

// parseStat reads the line of a stat file. The command name in parentheses may
// hold blanks and parentheses itself.
func parseStat(line []byte) (entry, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || shut < open {
		return entry{}, false
	}
	rest := bytes.Fields(line[shut+1:])
	if len(rest) < 20 || len(rest[0]) != 1 {
		return entry{}, false
	}
	e := entry{state: rest[0][0]}
	var err error
	number := func(field []byte) int {
		n, failure := strconv.Atoi(string(field))
		err = errors.Join(err, failure)
		return n
	}
	e.pid = number(bytes.TrimSpace(line[:open]))
	e.parent = number(rest[1])
	e.group = number(rest[2])
	e.session = number(rest[3])
	e.threads = number(rest[17])
	start, failure := strconv.ParseUint(string(rest[19]), 10, 64)
	e.start = start
	return e, err == nil && failure == nil
}

// readEntry reads one process; false if there is none.
func readEntry(pid int, buf []byte) (entry, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, false
	}
	defer func() { _ = unix.Close(fd) }()
	n, err := unix.Read(fd, buf)
	if err != nil {
		return entry{}, false
	}
	return parseStat(buf[:n])
}

// scanProcesses reads the process table. It is no snapshot of one instant:
// processes that come or go meanwhile may be in it or not.
func scanProcesses() ([]entry, error) {
	pids, err := numbersIn("/proc")
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(pids))
	buf := make([]byte, 4096)
	for _, pid := range pids {
		if e, ok := readEntry(pid, buf); ok {
			table = append(table, e)
		}
	}
	return table, nil
}

// numbersIn lists the entries of a directory that are numbers.
func numbersIn(path string) ([]int, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	numbers := make([]int, 0, len(names))
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// descendants is the set of roots and everything below them.
func descendants(table []entry, roots []int) map[int]bool {
	below := make(map[int][]int, len(table))
	for _, e := range table {
		below[e.parent] = append(below[e.parent], e.pid)
	}
	found := make(map[int]bool)
	for todo := slices.Clone(roots); len(todo) > 0; {
		pid := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if found[pid] {
			continue
		}
		found[pid] = true
		todo = append(todo, below[pid]...)
	}
	return found
}
