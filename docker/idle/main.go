package main

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "simplex-idle takes no arguments")
		os.Exit(2)
	}
	// Two channels: a burst of children must not push out the stop.
	children, stop := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT)
	for {
		select {
		case <-children:
			reap()
		case <-stop:
			if os.Getpid() == 1 {
				endCommands("/proc")
			}
			return
		}
	}
}

// reap takes the exit status of every child that has ended.
func reap() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
