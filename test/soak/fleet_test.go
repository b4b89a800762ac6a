package soak

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/test/conformance/rig"
)

// What an idle worker may take.
const (
	idleRSS = 20 << 10 // KiB
	idleCPU = time.Millisecond

	longestWait = 10*time.Second + 3*time.Second // client.transport.max_backoff_ms, and a busy machine
)

// fleet is many workers of one Hub.
type fleet struct {
	t        *testing.T
	hub      *hub
	addr     string
	programs []*rig.Program
}

// TestFleet lets the Hub of many workers go away and come back.
func TestFleet(t *testing.T) {
	size, away, idle := pick(20, 200), pick(3*time.Second, 20*time.Second), pick(3*time.Second, time.Minute)
	f := &fleet{t: t, hub: newHub()}
	f.hub.quiet = true
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	f.hub.listen(l)
	t.Cleanup(f.hub.down)
	model := rig.NewModel(t, nil)
	for i := range size {
		f.start(i, model.URL())
	}
	f.answering(1)
	f.idle(idle)

	before := f.cpu()
	began := time.Now()
	f.hub.down()
	pause(t, away)
	back := time.Now()
	if l, err = net.Listen("tcp4", f.addr); err != nil {
		t.Fatal(err)
	}
	f.hub.listen(l)
	f.answering(2)
	spent := (f.cpu() - before) / time.Duration(size)
	half, last := f.joined(back)
	t.Logf("half of %d are back %v after the Hub, the last one after %v; %v of processor time each for %v",
		size, half.Round(time.Millisecond), last.Round(time.Millisecond), spent.Round(time.Microsecond), time.Since(began).Round(time.Second))
	if last > longestWait {
		t.Errorf("the last one came back after %v, limit %v", last, longestWait)
	}
	if limit := 20 * time.Millisecond * time.Duration(1+away/time.Second); spent > limit {
		t.Errorf("%v of processor time each, limit %v", spent, limit)
	}
	f.spread(began, back)
	for _, p := range f.programs {
		p.Stop()
	}
}

// pause lets time pass: the length of an outage, or of a measurement, is its subject.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

func (f *fleet) path(i int) string { return fmt.Sprintf("/w%d", i) }

func (f *fleet) start(i int, model string) {
	f.t.Helper()
	dir := f.t.TempDir()
	text := fmt.Sprintf(`
driver_model: main
providers: { main: { plugin: openai-chat, model: scripted, endpoint: { base_url: %q, auth: { scheme: none } } } }
client: { endpoint: "ws://%s%s" }
persistence: { directory: session }
`, model, f.addr, f.path(i))
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.programs = append(f.programs, rig.Launch(f.t, dir, nil, "run", "--config", file, "--session", fmt.Sprintf("s%d", i)))
}

// answering waits until each worker stands on its n-th connection, or a later one, and
// answers there.
func (f *fleet) answering(n int) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for i := range f.programs {
		path := f.path(i)
		err := f.hub.await(ctx, func() bool { p := f.hub.peers[path]; return p != nil && p.conns >= n && p.ws != nil })
		if err != nil || !f.hub.send(path, "signal", rig.Op("status")) {
			f.t.Fatalf("worker %d is not there: %v\n%s", i, err, f.programs[i].Stderr)
		}
		err = f.hub.await(ctx, func() bool {
			p := f.hub.peers[path]
			return len(p.events) > 0 && p.events[len(p.events)-1].Name == "status" && p.events[len(p.events)-1].conn >= n
		})
		if err != nil {
			f.t.Fatalf("worker %d does not answer: %v", i, err)
		}
	}
}

// joined tells when half of the workers, and when the last one, were back.
func (f *fleet) joined(back time.Time) (half, last time.Duration) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	var waits []time.Duration
	for _, p := range f.hub.peers {
		waits = append(waits, p.joined[1].Sub(back))
	}
	slices.Sort(waits)
	return waits[len(waits)/2], waits[len(waits)-1]
}

func (f *fleet) cpu() (sum time.Duration) {
	for _, p := range f.programs {
		sum += busy(f.t, p.PID())
	}
	return sum
}

// idle measures workers that have nothing to do.
func (f *fleet) idle(during time.Duration) {
	f.t.Helper()
	before := make([]time.Duration, len(f.programs))
	for i, p := range f.programs {
		before[i] = busy(f.t, p.PID())
	}
	began := time.Now()
	pause(f.t, during)
	var sum, worst time.Duration
	most := 0
	for i, p := range f.programs {
		spent := busy(f.t, p.PID()) - before[i]
		sum, worst = sum+spent, max(worst, spent)
		now, _ := resident(f.t, p.PID())
		most = max(most, now)
	}
	passed := time.Since(began)
	rate := func(d time.Duration) time.Duration { return time.Duration(float64(d) / passed.Seconds()) }
	mean := rate(sum / time.Duration(len(f.programs)))
	f.t.Logf("%d idle workers for %v: at most %d KiB each, %v of processor time a second in the mean, %v at most",
		len(f.programs), passed.Round(time.Millisecond), most, mean, rate(worst))
	if most > idleRSS {
		f.t.Errorf("an idle worker has %d KiB, limit %d", most, idleRSS)
	}
	if mean > idleCPU {
		f.t.Errorf("an idle worker takes %v a second, limit %v", mean, idleCPU)
	}
}

// spread looks at the attempts during the outage, as the workers log them: no tenth of a
// second may hold more than a small share. The loss of the connection itself is none.
func (f *fleet) spread(began, back time.Time) {
	f.t.Helper()
	slots := make(map[int64]int)
	all := 0
	for _, p := range f.programs {
		for line := range strings.Lines(p.Stderr.String()) {
			if !strings.Contains(line, gaveUp) || !strings.Contains(line, "lasted=0s") {
				continue
			}
			stamp, _, _ := strings.Cut(strings.TrimPrefix(line, "time="), " ")
			when, err := time.Parse(time.RFC3339, stamp)
			if err != nil || when.Before(began.Add(-time.Second)) || when.After(back) {
				continue
			}
			all++
			slots[when.UnixMilli()/100]++
		}
	}
	fullest := 0
	for _, n := range slots {
		fullest = max(fullest, n)
	}
	share := float64(fullest) / float64(max(all, 1))
	f.t.Logf("%d attempts, the fullest 100 ms hold %d: %.1f %%", all, fullest, 100*share)
	// Few workers in a short outage are too few for the share that a fleet must keep.
	if limit := pick(0.35, 0.10); all < 2*len(f.programs) || share > limit {
		f.t.Errorf("%d attempts, share %.2f, limit %.2f", all, share, limit)
	}
}
