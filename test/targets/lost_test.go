package targets

import (
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// settled repeats a request while the answer is busy, as what another client left is
// still at work, and gives the other answer.
func (tg target) settled(t testing.TB, request string) answer {
	t.Helper()
	var got answer
	eventually(t, "not busy any more: "+request, func() bool {
		got = tg.manage(t, request)
		return !strings.Contains(got.stdout, `"code":"busy"`)
	})
	return got
}

// A client that is killed in the middle of a change leaves an unknown outcome; the same
// request again settles it.
func TestClientLostWhileChanging(t *testing.T) {
	t.Parallel()
	s := newStore(t, "lost-changes")
	for _, tg := range []target{overSSH(t), inContainer(t)} {
		s.fresh(t, tg)
		for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL} {
			id := string(rune('a' + i))
			prepare := s.request("prepare", id, object{"configuration": workerYAML})
			c := tg.start(t, io.Discard, shared.executable, "manage", "--request", encoded(prepare))
			select {
			case <-time.After(time.Duration(40*i) * time.Millisecond): // at another moment each
			case <-c.done:
			}
			c.kill(sig)
			if got := tg.settled(t, prepare); got.code != 0 || !strings.Contains(got.stdout, `"revision":1,`) {
				t.Errorf("%s: prepared again: %v", tg.name, got)
			}
		}
	}
}

// A client that is killed in the middle of a long answer must not leave its lease behind.
func TestClientLostWhileReading(t *testing.T) {
	t.Parallel()
	s := newStore(t, "lost-reading")
	text := largeState(20 * megabyte)
	for _, tg := range []target{overSSH(t), inContainer(t)} {
		s.fresh(t, tg)
		tg.must(t, s.request("prepare", "big", object{"configuration": workerYAML}))
		tg.plant(t, s.directory("big"), map[string]string{"state.json": text})
		out := newStuck()
		c := tg.start(t, out, shared.executable, "manage", "--request", encoded(s.request("read_state", "big", nil)))
		<-out.first
		_ = c.cmd.Process.Kill()
		close(out.released)
		<-c.done
		began := time.Now()
		if got := tg.settled(t, s.request("remove", "big", nil)); got.code != 0 {
			t.Errorf("%s: %v", tg.name, got)
		}
		t.Logf("%s: the lease was free after %v", tg.name, time.Since(began).Round(time.Millisecond))
	}
}

// stuck is a reader that takes one piece and no further one until it is released.
type stuck struct {
	once            sync.Once
	first, released chan struct{}
}

func newStuck() *stuck { return &stuck{first: make(chan struct{}), released: make(chan struct{})} }

func (s *stuck) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.first) })
	<-s.released
	return len(p), nil
}
