package kin

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	line := "4711 (a) b (c) S 1 4700 4699 34816 4700 4194304 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2 3\n"
	want := Entry{PID: 4711, Parent: 1, Group: 4700, session: 4699, threads: 3, State: 'S', Start: 987654}
	if got, ok := parseStat([]byte(line)); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1", "x (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"} {
		if got, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	self, ok := read(os.Getpid(), make([]byte, 4096))
	if !ok || self.Parent != os.Getppid() || self.Group != unix.Getpgrp() || !self.Living() {
		t.Errorf("%+v", self)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 5 6"))
	f.Add([]byte(")("))
	f.Fuzz(func(_ *testing.T, line []byte) {
		parseStat(line)
		pidOf(line)
	})
}
