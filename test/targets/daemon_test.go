package targets

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// daemon is a server that tells when it is ready (NOTIFY_SOCKET of systemd).
type daemon struct {
	cmd  *exec.Cmd
	said bytes.Buffer // stdout and stderr; read it once done is closed
	done chan struct{}
	err  error // of its start or end, once done is closed
}

// startDaemon starts cmd in a mount namespace of its own and returns once it is ready.
// It gets SIGTERM when this process dies.
func startDaemon(cmd *exec.Cmd, dir string) (*daemon, error) {
	path := filepath.Join(dir, "ready")
	ready, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	d := &daemon{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &d.said, &d.said
	cmd.Env = append(without(os.Environ(), "DOCKER_HOST", "DOCKER_CONTEXT"), "NOTIFY_SOCKET="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Unshareflags: syscall.CLONE_NEWNS}
	go d.run()

	told := make(chan error, 1)
	go func() { told <- awaitReady(ready) }()
	select {
	case err = <-told:
	case <-d.done:
		return nil, fmt.Errorf("%s: %w\n%s", cmd.Args[0], d.err, &d.said)
	}
	if err != nil {
		_ = d.stop()
		return nil, fmt.Errorf("%s is not ready: %w\n%s", cmd.Args[0], err, &d.said)
	}
	return d, nil
}

// run keeps the thread that started the process: the signal at its death is bound to it.
func (d *daemon) run() {
	runtime.LockOSThread()
	defer close(d.done)
	if d.err = d.cmd.Start(); d.err != nil {
		return
	}
	if d.err = d.cmd.Wait(); d.err == nil {
		d.err = errors.New("it has ended")
	}
}

func awaitReady(conn *net.UnixConn) error {
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(string(buffer[:n]), "\n") {
			if line == "READY=1" {
				return nil
			}
		}
	}
}

// stop ends the daemon in order, or by force when that takes too long.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-d.done:
		return nil
	case <-timer.C:
		_ = d.cmd.Process.Kill()
		<-d.done
		return fmt.Errorf("%s did not end by SIGTERM\n%s", d.cmd.Args[0], &d.said)
	}
}
