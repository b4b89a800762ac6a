package manager

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/ancestors"
	"simplex/manager/protocol"
)

// A panic anywhere is an answer, too, and says what was published.
func TestPanicsAreAnswered(t *testing.T) {
	t.Parallel()
	for label, published := range map[string]bool{stepPreparing: false, stepReady: true} {
		p := newPlace(t)
		m := New(Config{Hook: func(at string, _ durable.Op) error {
			if at == label {
				panic("with " + secret)
			}
			return nil
		}})
		_, failure := answerOf(m, p.prepareRequest("a"))
		if failure == nil || failure.Code != protocol.Internal || *failure.Published != published || strings.Contains(failure.Message, secret) {
			t.Errorf("at %s: %+v", label, failure)
		}
		p.must(p.prepareRequest("a")) // nothing stays locked
	}
}

// What is logged names the operation and its outcome, and no text of a request.
func TestLogsHoldNoSecret(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newPlace(t)
	p.m = New(Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	p.must(p.prepareRequest("a"))
	p.must(p.captureRequest("a", "life", 1))
	other := p.prepareRequest("a")
	other.Configuration = new("key: [" + secret)
	p.refused(other, protocol.InvalidConfiguration)
	p.must(p.request(protocol.Inspect, "a"))
	p.must(p.request(protocol.Remove, "a"))
	if text := out.String(); strings.Contains(text, secret) || strings.Count(text, "\n") != 5 || !strings.Contains(text, "code=invalid_configuration") {
		t.Errorf("%s", text)
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, failure := p.m.Handle(ctx, p.prepareRequest("a")); failure == nil {
		t.Error("not refused")
	}
	p.refused(p.request(protocol.Inspect, "a"), protocol.NotFound)
}

// Inspect takes no lock, changes nothing and reads no directory, whatever lies beside it.
func TestInspectOnlyLooks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.prepareRequest("a"))
	calls := 0
	m := New(Config{Hook: func(label string, op durable.Op) error {
		calls++
		if changes(op.Call) || op.Call == safepath.CallGetdent {
			t.Errorf("it does %s (%s)", op.Call, label)
		}
		return nil
	}})
	if _, failure := answerOf(m, p.request(protocol.Inspect, "a")); failure != nil {
		t.Fatal(failure)
	}
	if limit := 4*ancestors.Depth(p.directory("a")) + 16; calls > limit {
		t.Errorf("%d calls, more than %d", calls, limit)
	}
}

// Errnos become the codes of the contract, never busy or a mismatch.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	for errno, want := range map[error]protocol.Code{
		unix.EIO: protocol.IOError, unix.ENOSPC: protocol.IOError, unix.EROFS: protocol.IOError, unix.EPERM: protocol.IOError, unix.EMFILE: protocol.IOError,
		unix.EACCES: protocol.PermissionDenied, unix.EWOULDBLOCK: protocol.Busy, unix.ENOLCK: protocol.LockingUnsupported, unix.EBADF: protocol.LockingUnsupported,
	} {
		p := newPlace(t)
		m := New(Config{Hook: func(label string, op durable.Op) error {
			if op.Call == durable.CallFlock {
				return errno
			}
			return nil
		}})
		if _, failure := answerOf(m, p.prepareRequest("a")); failure == nil || failure.Code != want {
			t.Errorf("%v: %v, want %s", errno, failure, want)
		}
	}
}
