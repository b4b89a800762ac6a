package manager

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"simplex/manager/protocol"
	"simplex/manager/record"
)

// serverVariable makes the test binary a process that answers one request a line, so
// that rounds of races cost no process starts.
const serverVariable = "MANAGER_TEST_SERVER"

func serverMain() int {
	in := bufio.NewReader(os.Stdin)
	m := New(Config{})
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		req, failure := protocol.Decode(strings.TrimSpace(line))
		if failure == nil {
			var result *Result
			if result, failure = m.Handle(context.Background(), req); failure == nil {
				err = protocol.WriteResult(os.Stdout, req.RequestID, result.Write)
				result.Close()
			}
		}
		if failure != nil {
			_, err = os.Stdout.Write(protocol.AppendError(nil, req.RequestID, failure))
		}
		if err != nil {
			return 1
		}
	}
}

type server struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startServers(tb testing.TB, n int) []*server {
	tb.Helper()
	var out []*server
	for range n {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), serverVariable+"=1", "GORACE=atexit_sleep_ms=0")
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			tb.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			tb.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			_ = stdin.Close()
			_ = cmd.Wait()
		})
		out = append(out, &server{stdin, bufio.NewReader(stdout)})
	}
	return out
}

// atOnce gives each request to a process of its own, all together, and tells the codes,
// "" for success.
func atOnce(tb testing.TB, servers []*server, requests []*protocol.Request) []protocol.Code {
	tb.Helper()
	lines := make([]string, len(requests))
	for i, req := range requests {
		argument, err := req.Encode()
		if err != nil {
			tb.Fatal(err)
		}
		lines[i] = argument + "\n"
	}
	for i := range requests {
		if _, err := io.WriteString(servers[i].in, lines[i]); err != nil {
			tb.Fatal(err)
		}
	}
	codes := make([]protocol.Code, len(requests))
	for i, req := range requests {
		line, err := servers[i].out.ReadBytes('\n')
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := protocol.DecodeResponse(line, req.RequestID); err != nil {
			failure, ok := err.(*protocol.Error)
			if !ok {
				tb.Fatal(err)
			}
			codes[i] = failure.Code
		}
	}
	return codes
}

func raceRounds() int {
	if long() {
		return 400
	}
	return 80
}

// Parents, children, siblings and one identity twice, prepared by ten processes at once:
// never two claims in one hierarchy.
func TestPrepareRaces(t *testing.T) {
	t.Parallel()
	servers := startServers(t, 10)
	won := map[string]int{}
	for round := range raceRounds() {
		p := newPlace(t)
		prepare := func(rel, configuration string) *protocol.Request {
			return &protocol.Request{
				RequestID: "r", Operation: protocol.Prepare, AllocationID: filepath.Base(rel),
				Directory: filepath.Join(p.root, rel), Configuration: &configuration,
			}
		}
		requests := []*protocol.Request{
			prepare("p", source), prepare("p/c", source), prepare("p/c/g", source), prepare("p/x/y/g", source), prepare("s", source),
			prepare("t", source), prepare("same", source), prepare("same", source), prepare("same", "a: 1"), prepare("p/c", source),
		}
		// Another order each round, as the first ones have a head start.
		shift := round % len(requests)
		requests = append(requests[shift:], requests[:shift]...)
		codes := atOnce(t, servers, requests)
		for i, code := range codes {
			switch code {
			case "", protocol.Busy, protocol.NestedAllocation, protocol.UnmanagedDirectory, protocol.Conflict:
			default:
				t.Errorf("round %d: %s: %s", round, requests[i].Directory, code)
			}
			if code == "" {
				won[strings.TrimPrefix(requests[i].Directory, p.root)]++
			}
		}
		checkClaims(t, p.root, fmt.Sprintf("round %d", round))
		// Whoever was busy gets a clear answer alone.
		for i, code := range codes {
			if code == protocol.Busy {
				if _, failure := answerOf(p.m, requests[i]); failure != nil && failure.Code == protocol.Busy {
					t.Errorf("round %d: %s: busy alone: %v", round, requests[i].Directory, failure)
				}
			}
		}
		checkClaims(t, p.root, fmt.Sprintf("round %d, after repeats", round))
	}
	t.Logf("%v", won)
}

// checkClaims looks for records whose directories lie inside one another.
func checkClaims(tb testing.TB, root, where string) {
	tb.Helper()
	var claims []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, recordSuffix) && filepath.Base(filepath.Dir(path)) == protocol.ManagerDirectory {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rec, err := record.Decode(raw)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			claims = append(claims, rec.Directory)
		}
		return err
	})
	if err != nil {
		tb.Errorf("%s: %v", where, err)
	}
	slices.Sort(claims)
	for i := range claims {
		for _, other := range claims[i+1:] {
			if strings.HasPrefix(other+"/", claims[i]+"/") {
				tb.Errorf("%s: %s is claimed inside %s", where, other, claims[i])
			}
		}
	}
}

// Everything that can happen to one allocation, at once.
func TestLifeRaces(t *testing.T) {
	t.Parallel()
	servers := startServers(t, 9)
	removed := 0
	for round := range raceRounds() {
		p := newPlace(t)
		p.must(p.prepareRequest("a"))
		p.must(p.captureRequest("a", "life", 1))
		requests := []*protocol.Request{
			p.refreshRequest("a", "ws://one/", 1), p.refreshRequest("a", "ws://two/", 1), p.captureRequest("a", "next", 1),
			p.forkRequest("f1", "a", "life", 1), p.forkRequest("f1", "a", "life", 1), p.request(protocol.ReadState, "a"),
			p.request(protocol.Inspect, "a"), p.request(protocol.Remove, "a"), p.request(protocol.Remove, "a"),
		}
		shift := round % len(requests)
		requests = append(requests[shift:], requests[:shift]...)
		codes := atOnce(t, servers, requests)
		refreshed := 0
		for i, code := range codes {
			req := requests[i]
			switch code {
			case "", protocol.Busy, protocol.Retired, protocol.RevisionMismatch, protocol.LifecycleConflict:
			case protocol.NotReady: // seen by a reader in the middle of a removal
			default:
				t.Errorf("round %d: %s: %s", round, req.Operation, code)
			}
			if req.Operation == protocol.Inspect && code != "" {
				t.Errorf("round %d: inspect: %s", round, code)
			}
			if req.Refresh != nil && code == "" {
				refreshed++
			}
		}
		if refreshed > 1 {
			t.Errorf("round %d: both refreshes of one revision went through", round)
		}
		where := fmt.Sprintf("round %d", round)
		p.checkSound(where)
		if rec := p.record("a"); rec.Status == record.Retired {
			removed++
		} else if rec.Status != record.Ready {
			t.Errorf("%s: ended %s", where, rec.Status)
		}
		if left := p.leftovers(); len(left) > 0 {
			t.Errorf("%s: left over: %v", where, left)
		}
		// A reader's process gives its lease back after its answer.
		eventually(t, func() *protocol.Error { _, f := answerOf(p.m, p.request(protocol.Remove, "a")); return f })
	}
	t.Logf("removed in %d of %d rounds", removed, raceRounds())
}
