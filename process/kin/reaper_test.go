package kin

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What loses its parent becomes a child of this process, is told from its own children,
// and is reaped once dead. It is not parallel: adoption is the whole process's business.
func TestReaperAdoptsAndReaps(t *testing.T) {
	reaper, err := EnableSubreaper(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := reaper.Close(); err != nil {
			t.Error(err)
		}
	}()
	own := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; exec sleep 1000 >/dev/null")
	out, err := own.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if table := scan(t); !Descendants(table, []int{own.Process.Pid})[orphan] || len(reaper.Adopted(table)) != 0 {
		t.Errorf("%d is not below %d, or adopted already", orphan, own.Process.Pid)
	}
	_ = own.Process.Kill()
	if err := own.Wait(); err == nil {
		t.Error("a killed child succeeded")
	}
	table := scan(t)
	if got := reaper.Adopted(table); !slices.Equal(got, []int{orphan}) {
		t.Fatalf("adopted %v, want %d", got, orphan)
	}
	w := WatchDeaths(slices.DeleteFunc(table, func(e Entry) bool { return e.PID != orphan }))
	for _, q := range w.Quarry {
		if err := q.Signal(unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	w.Wait(t.Context())
	w.Close() // an orphan that a descriptor refers to passes for a child of this process
	reaper.Reap()
	if err := unix.Kill(orphan, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("not reaped: %v", err)
	}
}

func scan(t testing.TB) []Entry {
	t.Helper()
	table, err := Scan()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(table, func(e Entry) bool { return e.PID == os.Getpid() && e.Living() }) {
		t.Fatal("this process is not in its own table")
	}
	return table
}
