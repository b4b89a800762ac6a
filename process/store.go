package process

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"simplex/process/capture"
	"simplex/process/execve"
	"simplex/process/kin"
	"simplex/process/sandbox"
)

// Defaults of a Config.
const (
	DefaultMaxSessions    = 32
	DefaultMaxOutputBytes = 64 << 10
	DefaultTailBytes      = 8 << 10
	DefaultGrace          = 5 * time.Second
	DefaultDrain          = 100 * time.Millisecond
)

const readChunk = 32 << 10

// Config of a Store. The zero value is a store with the contract's defaults.
type Config struct {
	UUID        string // in every session id; "" = a fresh one
	MaxSessions int    // retained and launching; 0 = DefaultMaxSessions
	// MaxOutputBytes is the capture budget of a process; nil = DefaultMaxOutputBytes,
	// 0 = unlimited.
	MaxOutputBytes *uint64
	// TailBytes is kept of each stream that outran the budget; nil =
	// DefaultTailBytes, 0 = nothing.
	TailBytes *uint64
	Grace     time.Duration // from TERM to KILL at shutdown; 0 = DefaultGrace
	Drain     time.Duration // for leftover output at release and shutdown; 0 = DefaultDrain
	// Reaper makes shutdown end adopted descendants, too. At most one store of
	// a process may have it. nil = only what is still below a child or in its group.
	Reaper *kin.Reaper
	// Sandbox confines every child; nil = none is.
	Sandbox *sandbox.Box
	// Environment is the host's; nil = os.Environ at each launch.
	Environment func() []string
	Now         func() time.Time // nil = time.Now
	Logger      *slog.Logger     // nil = silent
}

// Store is the bounded table of sessions (tools.md §4.2). Safe for concurrent
// use; its lock is never held across waiting. End it with Shutdown.
type Store struct {
	cfg       Config
	budget    uint64
	tailBytes uint64
	buffers   sync.Pool

	mu       sync.Mutex
	sessions []*Session // by number
	starting int
	number   uint64 // last one given out
	closed   bool
	launches sync.WaitGroup

	ending  sync.Mutex // one shutdown at a time
	failure error      // first one of any shutdown
}

// NewStore makes an empty store and starts nothing. It marks every descriptor
// above 2 that the operating system process has as close-on-exec: what the
// host itself was left by its parent is not for its children either.
func NewStore(cfg Config) *Store {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // best effort: Linux 5.11
	if cfg.UUID == "" {
		cfg.UUID = uuid.NewString()
	}
	if cfg.MaxSessions == 0 {
		cfg.MaxSessions = DefaultMaxSessions
	}
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	if cfg.Drain == 0 {
		cfg.Drain = DefaultDrain
	}
	if cfg.Environment == nil {
		cfg.Environment = os.Environ
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	st := &Store{cfg: cfg, budget: DefaultMaxOutputBytes, tailBytes: DefaultTailBytes}
	if cfg.MaxOutputBytes != nil {
		st.budget = *cfg.MaxOutputBytes
	}
	if cfg.TailBytes != nil {
		st.tailBytes = *cfg.TailBytes
	}
	st.buffers.New = func() any { return new([readChunk]byte) }
	return st
}

// Spawn starts a child and publishes its session; it waits for the exec and
// nothing else. ctx only keeps a launch from beginning. Errors: ErrTableFull,
// ErrStoreClosed, or *Error with the stage; a failed launch leaves no trace.
func (st *Store) Spawn(ctx context.Context, spec LaunchSpec) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := st.reserve(); err != nil {
		return nil, err
	}
	defer st.launches.Done()
	s, err := st.launch(spec.clone())
	st.mu.Lock()
	defer st.mu.Unlock()
	st.starting--
	if err != nil {
		return nil, err
	}
	st.number++
	s.number = st.number
	s.id = fmt.Sprintf("proc_%s_%d", st.cfg.UUID, s.number)
	st.sessions = append(st.sessions, s)
	s.begin(&st.buffers)
	return s, nil
}

func (st *Store) reserve() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return ErrStoreClosed
	}
	if len(st.sessions)+st.starting >= st.cfg.MaxSessions {
		return fmt.Errorf("%w: %d sessions", ErrTableFull, st.cfg.MaxSessions)
	}
	st.starting++
	st.launches.Add(1)
	return nil
}

// launch starts the child of a session that is not yet observed.
func (st *Store) launch(spec LaunchSpec) (*Session, error) {
	l, err := prepareLaunch(spec, st.cfg.Environment())
	if err != nil {
		return nil, err
	}
	env, err := openEnvironment(spec)
	if err != nil {
		return nil, &Error{Stage: StageSpawn, Subject: spec.Executable, Err: err}
	}
	if _, own := execve.LookupEnvironment(spec.Environment, "TERM"); !own {
		l.env = env.environment(l.env)
	}
	if l.sandbox = st.cfg.Sandbox; l.sandbox != nil {
		l.env = l.sandbox.Environment(l.env, spec.Environment)
	}
	started := st.cfg.Now()
	c, err := l.start(env)
	if err != nil {
		env.abandon()
		return nil, &Error{Stage: StageSpawn, Subject: spec.Executable, Err: err}
	}
	env.started()
	return st.session(spec, started, c, env), nil
}

func (st *Store) session(spec LaunchSpec, started time.Time, c *kin.Child, env ioEnvironment) *Session {
	budget := st.budget
	if spec.MaxOutputBytes != nil {
		budget = *spec.MaxOutputBytes
	}
	var names []capture.Stream
	for _, src := range env.sources() {
		names = append(names, src.name)
	}
	s := &Session{
		spec: spec, started: started, now: st.cfg.Now, logger: st.cfg.Logger,
		child: c, io: env, capture: capture.New(budget, st.tailBytes, names...),
		exited: make(chan struct{}), complete: make(chan struct{}), state: Running,
	}
	if sink := env.sink(); sink != nil {
		s.input = &input{sink: sink}
	}
	return s
}

// Get finds a retained session.
func (st *Store) Get(id string) (*Session, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range st.sessions {
		if s.id == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoSession, id)
}

// List returns all retained sessions by number.
func (st *Store) List() []*Session {
	st.mu.Lock()
	defer st.mu.Unlock()
	return append([]*Session(nil), st.sessions...)
}

// Release drops an exited session from the table and frees what it holds. It
// waits up to the drain time for output still under way; a stream that does not
// end in that time is cut off. Errors: ErrNoSession, also for all but one of
// several releases at once, and ErrRunning.
func (st *Store) Release(id string) error {
	s, err := st.claim(id)
	if err != nil {
		return err
	}
	err = s.close(st.cfg.Drain)
	st.remove(s)
	return err
}

func (st *Store) claim(id string) (*Session, error) {
	s, err := st.Get(id)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.exited:
	default:
		return nil, fmt.Errorf("%w: %q", ErrRunning, id)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if s.claimed {
		return nil, fmt.Errorf("%w: %q", ErrNoSession, id)
	}
	s.claimed = true
	return s, nil
}

func (st *Store) remove(gone *Session) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, s := range st.sessions {
		if s == gone {
			st.sessions = append(st.sessions[:i:i], st.sessions[i+1:]...)
			return
		}
	}
}
