package manager

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// The names beside an allocation.
const (
	lockSuffix   = ".lock"
	recordSuffix = record.Suffix
	tempSuffix   = ".json.tmp" // these three exist only while an exclusive holder works
	stageSuffix  = ".stage"
	trashSuffix  = ".trash"
)

// temporary are the suffixes of names that no request leaves behind.
var temporary = [...]string{tempSuffix, stageSuffix, trashSuffix}

// Config equips a Manager. The zero value works, without SQLite states.
type Config struct {
	SQLite StateReader   // reads SQLite states; nil: read_state of one that exists is unsupported_operation
	Nonce  func() string // 32 hex digits, never the same twice; nil: random
	Hook   durable.Hook  // fault injection for tests; nil: none
	Logger *slog.Logger  // nil: discard; holds operation, allocation and code, nothing else

	// WithoutOpenat2 is for tests of what happens on old kernels.
	WithoutOpenat2 bool
}

// Manager answers requests. Its methods may be called from several goroutines; requests
// exclude one another by the same locks as those of other processes.
type Manager struct {
	cfg Config
	ops safepath.Ops
	log *slog.Logger
}

// New makes a Manager; nothing is touched.
func New(cfg Config) *Manager {
	if cfg.Nonce == nil {
		cfg.Nonce = randomNonce
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Manager{cfg: cfg, ops: safepath.Ops{Hook: cfg.Hook, WithoutOpenat2: cfg.WithoutOpenat2}, log: cfg.Logger}
}

func randomNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Handle carries one valid request out and gives its result, which the caller writes and
// closes, or the error for the response. It never waits for a lock. ctx is looked at
// before anything is touched; an operation that has begun is brought to its end, as a
// kill is the only thing that a caller can be sure of.
func (m *Manager) Handle(ctx context.Context, req *protocol.Request) (result *Result, failure *protocol.Error) {
	s := &session{m: m, req: req}
	defer func() {
		if p := recover(); p != nil {
			result, failure = nil, s.failure(fmt.Errorf("%w: %T", errPanic, p))
		}
		if result == nil || result.stream == nil {
			s.close()
		}
		code := protocol.Code("ok")
		if failure != nil {
			code = failure.Code
		}
		m.log.Info("manage", "operation", string(req.Operation), "allocation_id", req.AllocationID, "code", string(code))
	}()
	if err := context.Cause(ctx); err != nil {
		return nil, protocol.NewError(protocol.Internal, "the request was cancelled before it began")
	}
	result, err := s.run()
	if err != nil {
		return nil, s.failure(err)
	}
	return result, nil
}

func (s *session) run() (*Result, error) {
	if err := checkRequest(s.req); err != nil {
		return nil, err
	}
	if err := enoughDescriptors(s.req); err != nil {
		return nil, err
	}
	switch s.req.Operation {
	case protocol.Inspect:
		return s.inspect()
	case protocol.ReadState:
		return s.readState()
	case protocol.CleanFork:
		return s.cleanFork()
	case protocol.Prepare, protocol.CaptureStartup, protocol.Remove:
		return s.mutate(s.req.Operation == protocol.Prepare && s.req.Configuration != nil, "")
	}
	return nil, protocol.NewError(protocol.UnsupportedOperation, "operation: not known")
}

// checkRequest is what can be refused before any file is touched.
func checkRequest(req *protocol.Request) error {
	if req.Refresh != nil {
		if err := configuration.CheckRefresh(req.Refresh); err != nil {
			return err
		}
	}
	if req.Configuration != nil {
		if _, err := configuration.Effective(*req.Configuration, protocol.Refresh{}, req.Directory); err != nil {
			return err
		}
	}
	return nil
}
