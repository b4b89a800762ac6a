package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// endCommands asks the commands that entered the container from outside to end, and
// waits for them, until there is none. proc is where the process table is.
func endCommands(proc string) {
	for {
		var handles []int
		for _, pid := range entered(proc) {
			if fd, err := unix.PidfdOpen(pid, 0); err == nil {
				_ = unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0) // it may have ended just now
				handles = append(handles, fd)
			}
		}
		if len(handles) == 0 {
			return
		}
		for _, fd := range handles {
			awaitEnd(fd)
			_ = unix.Close(fd)
		}
	}
}

// awaitEnd returns once the process behind a pidfd has ended.
func awaitEnd(fd int) {
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != unix.EINTR {
			return
		}
	}
}

// entered lists the processes whose parent is outside of this process namespace, this
// process and zombies excepted.
func entered(proc string) []int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(proc, e.Name(), "stat"))
		if err == nil && fromOutside(raw) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// fromOutside reads a line of /proc/PID/stat: `PID (name) state parent …`, where the name
// may hold blanks and brackets.
func fromOutside(stat []byte) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 1 && string(fields[0]) != "Z" && string(fields[1]) == "0"
}
