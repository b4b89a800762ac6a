package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"simplex/process/capture"
)

// BR-005: no death is taken for success.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	for script, want := range map[string]struct {
		code   int
		signal string
	}{
		"exit 0":           {0, ""},
		"exit 3":           {3, ""},
		"exit 255":         {255, ""},
		"kill -9 $$":       {137, "SIGKILL"},
		"kill -TERM $$":    {143, "SIGTERM"},
		"kill -SEGV $$":    {139, "SIGSEGV"},
		"sh -c 'exit 137'": {137, ""},
	} {
		s := run(t, store, sh(script))
		snap := s.Snapshot()
		if exitCode(t, s) != want.code || snap.Signal != want.signal || snap.State != Exited {
			t.Errorf("%s: code %d, signal %q, state %s", script, exitCode(t, s), snap.Signal, snap.State)
		}
	}
}

// BR-001: a background grandchild holds the pipes; the child is over, its
// output is not, and release gives up on it in bounded time without a leak.
func TestFinishedIsNotComplete(t *testing.T) {
	store := newStore(t, Config{})
	run(t, store, sh(":")) // warms up what the runtime starts lazily
	goroutines, fds := runtime.NumGoroutine(), openFDs(t)
	mark := fmt.Sprintf("MARK=br001-%d", os.Getpid())
	for range 20 {
		spec := sh("echo ready; sleep 1000 &")
		spec.Environment = []string{mark}
		s := spawn(t, store, spec)
		await(t, "exit", s.Exited())
		if snap := s.Snapshot(); exitCode(t, s) != 0 || snap.OutputComplete {
			t.Fatalf("%+v", snap)
		}
		select {
		case <-s.Complete():
			t.Fatal("complete although the pipes are open")
		default:
		}
		if sent, err := s.Signal(unix.SIGTERM); sent || err != nil {
			t.Fatalf("signalled an exited child: %v, %v", sent, err)
		}
		eventually(t, s, "ready\n")
		if err := s.child.SignalGroup(unix.SIGKILL); err != nil { // the group is still ours
			t.Fatal(err)
		}
		await(t, "the end of the group", s.Complete())
		if err := store.Release(s.ID()); err != nil {
			t.Fatal(err)
		}
	}
	s := spawn(t, store, sh("echo ready; sleep 1000 & echo $!"))
	await(t, "exit", s.Exited())
	eventually(t, s, "ready\n")
	began := time.Now()
	if err := store.Release(s.ID()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("release took %v", took)
	}
	out := s.Read(capture.Stdout, true)[0]
	if !out.Truncated || !out.Ended || !strings.HasPrefix(string(out.Data), "ready\n") {
		t.Errorf("an unfinished stream is cut off at release: %+v", out)
	}
	var orphan int
	if _, err := fmt.Sscanf(strings.Fields(string(out.Data))[1], "%d", &orphan); err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(orphan, unix.SIGKILL)
	// A joined task may still be on its way out of its last call.
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", goroutines, runtime.NumGoroutine())
		}
	}
	if n := openFDs(t); n > fds {
		t.Errorf("%d descriptors before, %d after", fds, n)
	}
}

// BR-002: a kill reaches what the shell started, and the output stays.
func TestSignalReachesTheGroup(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	mark := fmt.Sprintf("MARK=br002-%d", os.Getpid())
	spec := sh("printf foo; (echo up >" + g.path + "; exec sleep 1000); printf bar")
	spec.Environment = []string{mark}
	s := spawn(t, store, spec)
	g.wait(t, 1)
	if sent, err := s.Signal(unix.SIGKILL); !sent || err != nil {
		t.Fatalf("%v, %v", sent, err)
	}
	await(t, "completion", s.Complete())
	if snap := s.Snapshot(); *snap.ExitCode != 137 || snap.Signal != "SIGKILL" {
		t.Errorf("%+v", snap)
	}
	if got := output(s, capture.Stdout); got != "foo" {
		t.Errorf("got %q", got)
	}
	if left := marked(t, mark); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// BR-004: without a pipe the input is at its end at once.
func TestNullInput(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	if got := output(run(t, store, sh(`read -r x; echo "got:$x"`)), capture.Stdout); got != "got:\n" {
		t.Errorf("got %q", got)
	}
	s := run(t, store, LaunchSpec{Executable: "cat", InheritEnvironment: true})
	if got := output(s, capture.Stdout); got != "" || exitCode(t, s) != 0 {
		t.Errorf("got %q", got)
	}
	if err := s.Send([]byte("x")); !errors.Is(err, ErrNoInput) {
		t.Errorf("send: %v", err)
	}
	if err := s.CloseInput(); !errors.Is(err, ErrNoInput) {
		t.Errorf("close: %v", err)
	}
}

// BR-009, BR-012: beginning and end of a flood are kept, the rest is counted.
func TestFloods(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	for name, c := range map[string]struct{ script, first, last string }{
		"long lines": {
			`i=0; while [ $i -lt 40 ]; do head -c 5000 /dev/zero | tr '\0' x; echo; i=$((i+1)); done; echo "FATAL: link step failed"; exit 1`,
			"xxxxx", "x\nFATAL: link step failed\n",
		},
		"progress":   {`for i in $(seq 40000); do printf "\r%d%% of 40000" $i; done; echo; echo ok; exit 1`, "\r1% of 40000", "\nok\n"},
		"a megabyte": {`yes line | head -c 1500000; echo; echo end; exit 1`, "line\n", "\nend\n"},
	} {
		s := run(t, store, sh(c.script))
		out := s.Read(capture.Stdout, true)[0]
		if !strings.HasPrefix(string(out.Data), c.first) || !strings.HasSuffix(string(out.Tail), c.last) {
			t.Errorf("%s: %.20q … %q", name, out.Data, out.Tail[max(0, len(out.Tail)-40):])
		}
		if len(out.Data) != DefaultMaxOutputBytes || len(out.Tail) != DefaultTailBytes || !out.Truncated || out.Omitted == 0 {
			t.Errorf("%s: %d bytes, %d in the tail, %d omitted", name, len(out.Data), len(out.Tail), out.Omitted)
		}
		if exitCode(t, s) != 1 {
			t.Errorf("%s: exit code %d", name, exitCode(t, s))
		}
		if quiet := s.Read(capture.Stderr, true)[0]; quiet.Truncated {
			t.Errorf("%s: stderr lost nothing and is marked", name)
		}
	}
}

// BR-008, BR-011: bytes are raw; no character is cut by us.
func TestRawBytes(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := run(t, store, sh(`printf 'a\000b\377\376c\n'; printf '\000' >&2`))
	if got := output(s, capture.Stdout); got != "a\x00b\xff\xfec\n" {
		t.Errorf("got %q", got)
	}
	if got := output(s, capture.Stderr); got != "\x00" {
		t.Errorf("got %q", got)
	}
	for cut := 65530; cut <= 65537; cut++ {
		s := run(t, store, ShellSpec(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' a; printf '漢字漢字é🙂'", cut)))
		out := s.Read(capture.Stdout, false)[0]
		if !utf8.Valid(out.Data) || len(out.Data) > DefaultMaxOutputBytes {
			t.Errorf("cut %d: %q", cut, out.Data[len(out.Data)-8:])
		}
		if whole := string(out.Data) + string(out.Tail); !strings.HasSuffix(whole, "a漢字漢字é🙂") || out.Omitted != 0 {
			t.Errorf("cut %d: ends with %q", cut, whole[len(whole)-20:])
		}
	}
}

func TestBudgetOptions(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{MaxOutputBytes: new(uint64(5)), TailBytes: new(uint64(0))})
	exact := run(t, store, sh("printf 12345")).Read("", true)
	if string(exact[0].Data) != "12345" || exact[0].Truncated || exact[1].Truncated {
		t.Errorf("exactly full: %+v", exact)
	}
	over := run(t, store, sh("printf 1234567")).Read(capture.Stdout, true)[0]
	if string(over.Data) != "12345" || !over.Truncated || over.Omitted != 2 || len(over.Tail) != 0 {
		t.Errorf("over: %+v", over)
	}
	spec := sh("head -c 3000000 /dev/zero")
	spec.MaxOutputBytes = new(uint64(0))
	if free := run(t, store, spec).Read(capture.Stdout, true)[0]; len(free.Data) != 3000000 || free.Truncated {
		t.Errorf("unlimited: %d bytes, truncated %v", len(free.Data), free.Truncated)
	}
}

func TestInputIsDeliveredInOrderAndThenEnds(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := spawn(t, store, LaunchSpec{Executable: "cat", InheritEnvironment: true, Input: InputPipe})
	p := []byte("one\n")
	for _, err := range []error{s.Send(p), s.Send([]byte("two\n")), s.Send([]byte("three\n")), s.CloseInput(), s.CloseInput()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p[0] = 'X' // the message was copied
	if err := s.Send([]byte("late")); !errors.Is(err, ErrInputClosed) {
		t.Errorf("send after close: %v", err)
	}
	await(t, "completion", s.Complete())
	if got := output(s, capture.Stdout); got != "one\ntwo\nthree\n" || exitCode(t, s) != 0 {
		t.Errorf("got %q, code %d", got, exitCode(t, s))
	}
}

// A child that does not read: senders never wait, the queue is bounded, and
// exit throws away what is pending.
func TestInputQueueIsBounded(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := spawn(t, store, LaunchSpec{Executable: "sleep", Arguments: []string{"1000"}, InheritEnvironment: true, Input: InputPipe})
	big := make([]byte, 1<<20) // more than the pipe takes
	sent := 0
	var err error
	for ; err == nil && sent < 100; sent++ {
		err = s.Send(big)
	}
	failure, ok := errors.AsType[*Error](err)
	if !errors.Is(err, ErrInputFull) || !ok || failure.Stage != StageWrite {
		t.Fatalf("after %d: %v", sent, err)
	}
	if sent < InputQueueLimit || sent > InputQueueLimit+2 { // one may be on its way
		t.Errorf("%d messages accepted", sent-1)
	}
	if err := s.CloseInput(); err != nil {
		t.Errorf("close with a full queue: %v", err)
	}
	if _, err := s.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "completion", s.Complete())
	if !s.Snapshot().InputClosed {
		t.Error("input open after exit")
	}
	if err := s.Send([]byte("x")); !errors.Is(err, ErrInputClosed) {
		t.Errorf("send after exit: %v", err)
	}
}

func TestBrokenInputIsQuiet(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	s := spawn(t, store, LaunchSpec{
		Executable: "/bin/sh", Arguments: []string{"-c", "exec 0<&-; echo up >" + g.path + "; exec sleep 1000"},
		InheritEnvironment: true, Input: InputPipe,
	})
	g.wait(t, 1)
	// A launch elsewhere may hold a copy of the reading end until its exec, so
	// the first message need not be the one that fails.
	for deadline := time.Now().Add(patience); ; s.input.idle.Wait() {
		err := s.Send([]byte("nobody reads"))
		if errors.Is(err, ErrInputClosed) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("got %v", err)
		}
	}
	if state := s.Snapshot().State; state != Running {
		t.Errorf("state %s", state)
	}
}

func TestDeltaReadsOfASession(t *testing.T) {
	t.Parallel()
	store, g := newStore(t, Config{}), newGate(t)
	s := spawn(t, store, LaunchSpec{
		Executable: "/bin/sh", Arguments: []string{"-c", "echo a; echo e >&2; echo >" + g.path + "; read x; echo b"},
		InheritEnvironment: true, Input: InputPipe,
	})
	g.wait(t, 1)
	eventually(t, s, "a\n") // the gate can be faster than the reader
	if out := s.Read(capture.Stdout, false); len(out) != 1 || string(out[0].Data) != "a\n" || out[0].Cursor != 2 {
		t.Fatalf("%+v", out)
	}
	if err := s.Send([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	await(t, "completion", s.Complete())
	if out := s.Read("", true); string(out[0].Data) != "a\nb\n" || out[0].Cursor != 2 || string(out[1].Data) != "e\n" || out[1].Cursor != 0 {
		t.Errorf("full: %+v", out)
	}
	if out := s.Read("", false); string(out[0].Data) != "b\n" || out[0].Cursor != 4 || out[1].Cursor != 2 {
		t.Errorf("delta: %+v", out)
	}
}

// eventually yields until the capture holds want: its readers notify nobody.
func eventually(t testing.TB, s *Session, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		if out := s.Read("", true)[0]; strings.Contains(string(out.Data), want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never saw %q", want)
		}
	}
}

// BR-032: the wall clock may jump; running time comes from the injected
// clock's differences, which for time.Now are monotonic.
func TestRunningTime(t *testing.T) {
	t.Parallel()
	var offset atomic.Int64
	base := time.Now()
	store := newStore(t, Config{UUID: "u", Now: func() time.Time { return base.Add(time.Duration(offset.Load())) }})
	s := spawn(t, store, LaunchSpec{Executable: "cat", InheritEnvironment: true, Input: InputPipe})
	offset.Store(int64(90 * time.Second))
	if got := s.Snapshot().Running; got != 90*time.Second {
		t.Errorf("running: %v", got)
	}
	if err := s.CloseInput(); err != nil {
		t.Fatal(err)
	}
	await(t, "exit", s.Exited())
	offset.Store(int64(time.Hour))
	if snap := s.Snapshot(); snap.Running != 90*time.Second || snap.ID != "proc_u_1" {
		t.Errorf("%+v", snap)
	}
	if real := run(t, newStore(t, Config{}), sh(":")); !strings.Contains(real.started.String(), "m=+") {
		t.Error("the default clock is not monotonic")
	}
}

func TestTableIsBoundedAndNumbersAreNotReused(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{UUID: "u"})
	for range DefaultMaxSessions {
		run(t, store, sh(":")) // exited ones count
	}
	if _, err := store.Spawn(context.Background(), sh(":")); !errors.Is(err, ErrTableFull) {
		t.Fatalf("got %v", err)
	}
	if err := store.Release("proc_u_7"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Get("proc_u_7"); !errors.Is(err, ErrNoSession) {
		t.Errorf("got %v", err)
	}
	if s := run(t, store, sh(":")); s.ID() != "proc_u_33" {
		t.Errorf("id %s", s.ID())
	}
	var last uint64
	for _, s := range store.List() {
		if n := s.Snapshot().Number; n <= last {
			t.Errorf("%d after %d", n, last)
		} else {
			last = n
		}
	}
}

func TestConcurrentSpawnsKeepTheLimit(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{MaxSessions: 5})
	var won, full atomic.Int32
	var tasks sync.WaitGroup
	for range 20 {
		tasks.Go(func() {
			switch _, err := store.Spawn(context.Background(), sh(":")); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, ErrTableFull):
				full.Add(1)
			}
		})
	}
	tasks.Wait()
	if won.Load() != 5 || full.Load() != 15 || len(store.List()) != 5 {
		t.Errorf("%d won, %d refused", won.Load(), full.Load())
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	s := spawn(t, store, LaunchSpec{Executable: "cat", InheritEnvironment: true, Input: InputPipe})
	if err := store.Release(s.ID()); !errors.Is(err, ErrRunning) {
		t.Errorf("running: %v", err)
	}
	if err := s.CloseInput(); err != nil {
		t.Fatal(err)
	}
	await(t, "exit", s.Exited())
	var won, lost atomic.Int32
	var tasks sync.WaitGroup
	for range 16 {
		tasks.Go(func() {
			switch err := store.Release(s.ID()); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, ErrNoSession):
				lost.Add(1)
			}
		})
	}
	tasks.Wait()
	if won.Load() != 1 || lost.Load() != 15 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
}

func TestWaitAny(t *testing.T) {
	t.Parallel()
	store := newStore(t, Config{})
	ctx := context.Background()
	if err := store.WaitAny(ctx, nil); err != nil {
		t.Errorf("nothing to wait for: %v", err)
	}
	var sessions []*Session
	for range 3 {
		sessions = append(sessions, spawn(t, store, LaunchSpec{Executable: "cat", InheritEnvironment: true, Input: InputPipe}))
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := store.WaitAny(short, sessions); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("none finished: %v", err)
	}
	woken := make(chan struct{})
	for range 4 {
		go func() {
			if err := store.WaitAny(ctx, sessions); err != nil {
				t.Error(err)
			}
			woken <- struct{}{}
		}()
	}
	if err := sessions[1].CloseInput(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		await(t, "every waiter", woken)
	}
	if err := store.WaitAny(short, sessions); err != nil {
		t.Errorf("finished already: %v", err)
	}
}

// A running child costs four tasks at most, an idle one with a closed output none more.
func TestTasksOfASession(t *testing.T) {
	store := newStore(t, Config{})
	run(t, store, sh(":"))
	before := runtime.NumGoroutine()
	for range 10 {
		spawn(t, store, LaunchSpec{Executable: "sleep", Arguments: []string{"1000"}, InheritEnvironment: true, Input: InputPipe})
	}
	if n := runtime.NumGoroutine() - before; n > 30 {
		t.Errorf("%d goroutines for 10 children", n)
	}
}
