package kin

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Kernels without process descriptors: the same behaviour through numbers.
func TestChildWithoutPidfd(t *testing.T) {
	t.Parallel()
	start := func(script string) *Child {
		pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", script},
			&syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true}})
		if err != nil {
			t.Fatal(err)
		}
		return NewChild(pid, -1)
	}
	c := start("sleep 1000")
	if sent, err := c.Signal(unix.SIGKILL, 0); !sent || err != nil {
		t.Errorf("%v, %v", sent, err)
	}
	if status, err := c.Wait(); err != nil || status.Signal() != unix.SIGKILL {
		t.Errorf("%v, %v", status, err)
	}
	if sent, err := c.Signal(unix.SIGKILL, 0); sent || err != nil {
		t.Errorf("after the reaping: %v, %v", sent, err)
	}
	c = start("sleep 1000 & exit 5")
	if status, err := c.Wait(); err != nil || status.ExitStatus() != 5 {
		t.Errorf("%v, %v", status, err)
	}
	if number, ok := c.Group(); !ok || number != c.pid {
		t.Errorf("the group lives: %d, %v", number, ok)
	}
	if err := c.SignalGroup(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	c.Close()
}
