package process

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/kin"
)

// State is what is known of a child.
type State string

// The states. Exited is final. Unknown means that somebody else consumed the
// child's exit status.
const (
	Running State = "running"
	Exited  State = "exited"
	Unknown State = "unknown"
)

// Session is one child with its input and captured output. Made by
// Store.Spawn; safe for concurrent use.
type Session struct {
	id      string
	number  uint64
	spec    LaunchSpec
	started time.Time
	now     func() time.Time
	logger  *slog.Logger

	child   *kin.Child
	io      ioEnvironment
	capture *capture.Buffer
	input   *input // nil with /dev/null

	exited   chan struct{}
	complete chan struct{}

	mu       sync.Mutex
	state    State
	code     int
	signal   string
	ended    time.Time
	pending  int // the exit and each stream that is still open
	watchers map[chan<- struct{}]struct{}

	tasks    sync.WaitGroup
	teardown sync.Once
	failure  error // of the teardown
	claimed  bool  // by a release; guarded by the store
}

// Snapshot is what a session looks like at one instant.
type Snapshot struct {
	ID     string
	Number uint64
	Spec   LaunchSpec
	State  State
	// ExitCode is set once State is Exited; 128 + n after signal n.
	ExitCode *int
	Signal   string // SIGKILL and so on; "" unless a signal ended the child
	PID      int    // diagnostic only
	Started  time.Time
	// Running is the child's time by the monotonic clock; it stops at exit.
	Running        time.Duration
	OutputComplete bool // every stream has ended
	InputClosed    bool
}

// begin starts the observation of a child that runs.
func (s *Session) begin(buffers *sync.Pool) {
	sources := s.io.sources()
	s.pending = 1 + len(sources)
	s.tasks.Go(s.watch)
	for i, src := range sources {
		s.tasks.Go(func() { s.drain(i, src, buffers) })
	}
}

func (s *Session) watch() {
	status, err := s.child.Wait()
	ended := s.now()
	s.mu.Lock()
	s.ended = ended
	switch {
	case err != nil:
		s.state = Unknown
	case status.Signaled():
		s.state = Exited
		s.code = 128 + int(status.Signal())
		s.signal = signalName(status.Signal())
	default:
		s.state = Exited
		s.code = status.ExitStatus()
	}
	s.mu.Unlock()
	if err != nil {
		s.logger.Error("lost the exit status of a child", "session", s.id, "pid", s.child.PID(), "error", err)
	}
	if s.input != nil {
		s.input.discard()
	}
	close(s.exited)
	s.part()
}

func signalName(sig unix.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return sig.String()
}

func (s *Session) drain(index int, src source, buffers *sync.Pool) {
	err := src.drain(buffers, func(p []byte) { s.capture.Add(index, p) })
	s.capture.End(index, err != nil && !src.ends(err))
	_ = src.file.Close()
	s.part()
}

// part counts down to completeness and tells who waits for it.
func (s *Session) part() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending--
	if s.pending > 0 {
		return
	}
	close(s.complete)
	for ch := range s.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// ID is the opaque session id, proc_<store uuid>_<number>.
func (s *Session) ID() string { return s.id }

// Exited is closed once the child has ended; its status is then final.
func (s *Session) Exited() <-chan struct{} { return s.exited }

// Complete is closed once the child has ended and every stream has, too.
func (s *Session) Complete() <-chan struct{} { return s.complete }

// Snapshot describes the session as it is now.
func (s *Session) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{
		ID: s.id, Number: s.number, Spec: s.spec, State: s.state, Signal: s.signal,
		PID: s.child.PID(), Started: s.started, OutputComplete: s.capture.Complete(),
		InputClosed: s.input == nil || s.input.isClosed(),
	}
	if s.state == Exited {
		snap.ExitCode = new(s.code)
	}
	if s.state == Running {
		snap.Running = s.now().Sub(s.started)
	} else {
		snap.Running = s.ended.Sub(s.started)
	}
	return snap
}

// Read returns the wanted stream, or all with Both or "", at one instant and without
// waiting. A terminal has one merged stream, which every wish gets. A full read
// returns all that is retained and moves no cursor; a delta read returns what
// came since the last one. Neither gives capacity back.
func (s *Session) Read(stream capture.Stream, full bool) []capture.Output {
	return s.capture.Read(func(name capture.Stream) bool {
		return stream == capture.Both || stream == "" || stream == name || name == capture.Terminal
	}, full)
}

// Send queues p for the child's input and does not wait for delivery. Errors
// are *Error at StageWrite wrapping ErrNoInput, ErrInputClosed, ErrInputFull or
// a *SizeError (a terminal line).
func (s *Session) Send(p []byte) error {
	if s.input == nil {
		return s.fail(StageWrite, ErrNoInput)
	}
	err := s.input.send(p)
	if errors.Is(err, ErrInputClosed) {
		s.logger.Debug("dropped input after its end", "session", s.id, "bytes", len(p))
	}
	return s.fail(StageWrite, err)
}

// CloseInput asks for end of file after what is queued. For a terminal it is a
// request only: the input stays open (tools.md §8.4).
func (s *Session) CloseInput() error {
	if s.input == nil {
		return s.fail(StageWrite, ErrNoInput)
	}
	return s.fail(StageWrite, s.input.finish())
}

// Signal sends sig to the child's group, and in a terminal first to the group
// in its foreground, which a shell with job control makes of every command. It
// tells whether it did: never after the child's exit.
func (s *Session) Signal(sig unix.Signal) (bool, error) {
	var foreground int
	if t, ok := s.io.(*terminal); ok {
		foreground = t.foreground()
	}
	sent, err := s.child.Signal(sig, foreground)
	return sent, s.fail(StageTerminate, err)
}

// Resize changes the size of the session's terminal, in character cells.
func (s *Session) Resize(columns, rows uint16) error {
	t, ok := s.io.(*terminal)
	if !ok {
		return s.fail(StageWrite, ErrNotTerminal)
	}
	return s.fail(StageWrite, t.resize(columns, rows))
}

func (s *Session) fail(stage Stage, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Stage: stage, Subject: s.id, Err: err}
}

// close ends a session whose child has exited or was killed: it gives the
// streams until drain to end by themselves, cuts off those that do not, and
// joins every task. The first call does it, all return its result.
func (s *Session) close(drain time.Duration) error {
	s.teardown.Do(func() {
		timer := time.NewTimer(drain)
		defer timer.Stop()
		select {
		case <-s.complete:
		case <-timer.C:
		}
		if s.input != nil {
			s.input.discard()
		}
		for _, src := range s.io.sources() {
			_ = src.file.Close()
		}
		select {
		case <-s.exited:
		default:
			s.failure = s.fail(StageTerminate, errSurvived)
		}
		s.child.Close()
		if !s.child.Interruptible() && s.failure != nil {
			return // its waiter cannot be interrupted; do not hang with it
		}
		s.tasks.Wait()
		if s.input != nil {
			s.input.idle.Wait()
		}
	})
	return s.failure
}

var errSurvived = errors.New("child survived SIGKILL")
