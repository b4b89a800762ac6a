package kin

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Entry is what /proc/<pid>/stat tells of one process.
type Entry struct {
	PID, Parent, Group int
	session            int
	threads            int
	State              byte   // as the kernel writes it: R, S, T, Z and so on
	Start              uint64 // ticks since boot: with PID, an identity
}

// Living is false for what only waits to be reaped. A process whose first
// thread is gone shows as a zombie although others go on.
func (e Entry) Living() bool {
	return e.State != 'X' && (e.State != 'Z' || e.threads > 1)
}

// parseStat reads the line of a stat file. The command name in parentheses may
// hold blanks and parentheses itself.
func parseStat(line []byte) (Entry, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || shut < open {
		return Entry{}, false
	}
	rest := bytes.Fields(line[shut+1:])
	if len(rest) < 20 || len(rest[0]) != 1 {
		return Entry{}, false
	}
	e := Entry{State: rest[0][0]}
	var err error
	number := func(field []byte) int {
		n, failure := strconv.Atoi(string(field))
		err = errors.Join(err, failure)
		return n
	}
	e.PID = number(bytes.TrimSpace(line[:open]))
	e.Parent = number(rest[1])
	e.Group = number(rest[2])
	e.session = number(rest[3])
	e.threads = number(rest[17])
	start, failure := strconv.ParseUint(string(rest[19]), 10, 64)
	e.Start = start
	return e, err == nil && failure == nil
}

// read reads one process; false if there is none.
func read(pid int, buf []byte) (Entry, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Entry{}, false
	}
	defer func() { _ = unix.Close(fd) }()
	n, err := unix.Read(fd, buf)
	if err != nil {
		return Entry{}, false
	}
	return parseStat(buf[:n])
}

// Scan reads the process table. It is no snapshot of one instant:
// processes that come or go meanwhile may be in it or not.
func Scan() ([]Entry, error) {
	pids, err := numbersIn("/proc")
	if err != nil {
		return nil, err
	}
	table := make([]Entry, 0, len(pids))
	buf := make([]byte, 4096)
	for _, pid := range pids {
		if e, ok := read(pid, buf); ok {
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

// Descendants is the set of roots and everything below them.
func Descendants(table []Entry, roots []int) map[int]bool {
	below := make(map[int][]int, len(table))
	for _, e := range table {
		below[e.Parent] = append(below[e.Parent], e.PID)
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
