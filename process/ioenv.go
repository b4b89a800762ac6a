package process

import (
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
)

// ioEnvironment is what connects a child with its host. A launch asks it for
// the child's descriptors and attributes, then tells it how the launch went;
// the session drains its sources and feeds its sink.
type ioEnvironment interface {
	// childFiles are descriptors 0, 1 and 2 of the child.
	childFiles() []uintptr
	configure(attr *syscall.SysProcAttr)
	environment(env []string) []string
	// started closes the host's copies of the child's ends.
	started()
	// abandon closes everything after a launch that failed.
	abandon()
	sources() []source
	// sink is nil if the child has no input.
	sink() sink
}

// source is one stream to drain until end of file.
type source struct {
	name capture.Stream
	file *os.File
	// ends tells whether err is this source's way to say end of file.
	ends func(err error) bool
}

// drain gives what comes to take, which must not keep it, until the stream ends:
// nil at end of file. A buffer is held only while there is something to read, so
// that a quiet process costs none. Each read looks anew whether the file was closed.
func (src source) drain(buffers *sync.Pool, take func(p []byte)) error {
	raw, err := src.file.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var failure error
	once := func(fd uintptr) bool {
		buf := buffers.Get().(*[readChunk]byte)
		defer buffers.Put(buf)
		n, failure = unix.Read(int(fd), buf[:])
		for errors.Is(failure, unix.EINTR) {
			n, failure = unix.Read(int(fd), buf[:])
		}
		if n > 0 {
			take(buf[:n])
		}
		return !errors.Is(failure, unix.EAGAIN)
	}
	for {
		if err := raw.Read(once); err != nil {
			return err
		}
		if n <= 0 {
			return failure
		}
	}
}

// sink is where the input queue delivers. admit and closing are called in the
// order of the messages; write and close may come from different goroutines.
type sink interface {
	// admit refuses a message that the child could not get whole.
	admit(p []byte) error
	// closing is how the end of input is asked for: bytes to send, and whether
	// the sink is closed after them.
	closing() (p []byte, last bool)
	write(p []byte) error
	close()
}

// pipes is the default environment: one pipe per stream.
type pipes struct {
	child  [3]int
	output [2]*os.File
	input  *os.File
}

func openPipes(input Input) (*pipes, error) {
	p := &pipes{child: [3]int{-1, -1, -1}}
	if err := p.open(input); err != nil {
		p.abandon()
		return nil, err
	}
	return p, nil
}

func (p *pipes) open(input Input) error {
	for i, name := range []capture.Stream{capture.Stdout, capture.Stderr} {
		ours, theirs, err := pipe(0)
		if err != nil {
			return err
		}
		p.child[i+1] = theirs
		p.output[i] = os.NewFile(uintptr(ours), string(name))
	}
	if input == InputNull {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		p.child[0] = fd
		return err
	}
	ours, theirs, err := pipe(1)
	if err != nil {
		return err
	}
	p.child[0] = theirs
	p.input = os.NewFile(uintptr(ours), "stdin")
	return nil
}

// pipe makes a pipe whose end number keep is ours and non-blocking; the other
// stays blocking, as programs expect their standard descriptors to be.
func pipe(keep int) (ours, theirs int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, err
	}
	ours, theirs = ends[keep], ends[1-keep]
	if err := unix.SetNonblock(ours, true); err != nil {
		_ = unix.Close(ours)
		_ = unix.Close(theirs)
		return -1, -1, err
	}
	return ours, theirs, nil
}

func (p *pipes) childFiles() []uintptr {
	return []uintptr{uintptr(p.child[0]), uintptr(p.child[1]), uintptr(p.child[2])}
}

func (p *pipes) configure(attr *syscall.SysProcAttr) { attr.Setpgid = true }

func (p *pipes) environment(env []string) []string { return env }

func (p *pipes) started() {
	for i, fd := range p.child {
		if fd >= 0 {
			_ = unix.Close(fd)
			p.child[i] = -1
		}
	}
}

func (p *pipes) abandon() {
	p.started()
	for _, file := range []*os.File{p.output[0], p.output[1], p.input} {
		if file != nil {
			_ = file.Close()
		}
	}
}

func (p *pipes) sources() []source {
	never := func(error) bool { return false }
	return []source{
		{name: capture.Stdout, file: p.output[0], ends: never},
		{name: capture.Stderr, file: p.output[1], ends: never},
	}
}

func (p *pipes) sink() sink {
	if p.input == nil {
		return nil
	}
	return pipeSink{p.input}
}

// pipeSink ends the input by closing the pipe.
type pipeSink struct{ file *os.File }

func (s pipeSink) admit([]byte) error      { return nil }
func (s pipeSink) closing() ([]byte, bool) { return nil, true }

func (s pipeSink) write(p []byte) error {
	_, err := s.file.Write(p)
	return err
}

func (s pipeSink) close() { _ = s.file.Close() }
