package durable

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// holder asks the kernel who locked the file. Unknown is a normal answer: another PID
// namespace, a file system that reports other device numbers, a holder just gone.
func (d *Dir) holder(name string) Holder {
	var st unix.Stat_t
	if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return Holder{}
	}
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return Holder{}
	}
	pid := findHolder(string(table), lockID(&st))
	if pid <= 0 {
		return Holder{}
	}
	command, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return Holder{} // gone; a child carries its lock for the moment
	}
	return Holder{PID: pid, Command: printable(strings.TrimSuffix(string(command), "\n"))}
}

// lockID is a file as /proc/locks writes it.
func lockID(st *unix.Stat_t) string {
	dev := st.Dev
	return fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
}

// findHolder searches lines such as "1: FLOCK  ADVISORY  WRITE 812 fe:00:262 0 EOF"; a
// waiting process stands in a line with "->" before the kind.
func findHolder(table, id string) int {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != id {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil {
			return pid
		}
	}
	return 0
}

// printable keeps a command name, which any process may choose, from steering a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
