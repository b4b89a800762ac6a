package manager

import (
	"fmt"
	"path/filepath"
	"testing"

	"simplex/manager/protocol"
)

// Thirty-two processes at once: every depth of one hierarchy, siblings, and one identity
// many times. The crash target runs 200 rounds of it with the real binary.
func TestThirtyTwoProcesses(t *testing.T) {
	t.Parallel()
	servers := startServers(t, 32)
	seen := map[protocol.Code]int{}
	for round := range 10 {
		p := newPlace(t)
		requests := p.crowd(round)
		codes := atOnce(t, servers, requests)
		for i, code := range codes {
			seen[code]++
			switch code {
			case "", protocol.Busy, protocol.NestedAllocation, protocol.UnmanagedDirectory, protocol.Conflict:
			default:
				t.Errorf("round %d: %s: %s", round, requests[i].Directory, code)
			}
		}
		checkClaims(t, p.root, fmt.Sprintf("round %d", round))
		for i, code := range codes {
			if code == protocol.Busy { // nobody is left who could hold a lock
				if _, failure := answerOf(p.m, requests[i]); failure != nil && failure.Code == protocol.Busy {
					t.Errorf("round %d: %s: busy alone: %v", round, requests[i].Directory, failure)
				}
			}
		}
		checkClaims(t, p.root, fmt.Sprintf("round %d, after repeats", round))
	}
	if seen[""] < 10 || seen[protocol.Busy] == 0 {
		t.Errorf("no race: %v", seen)
	}
	t.Logf("%v", seen)
}

// crowd are 32 requests to prepare, in another order each round.
func (p *place) crowd(round int) (out []*protocol.Request) {
	for _, rel := range []string{"p", "p/c", "p/c/g", "p/x", "p/x/y/g", "q", "q/r", "q/r/s", "s", "same"} {
		for range 3 {
			out = append(out, p.prepareAt(rel, source))
		}
	}
	out = append(out, p.prepareAt("same", "a: 1"), p.prepareAt("t", source))
	shift := round * 3 % len(out)
	return append(out[shift:], out[:shift]...)
}

func (p *place) prepareAt(rel, configuration string) *protocol.Request {
	return &protocol.Request{
		RequestID: "r", Operation: protocol.Prepare, AllocationID: filepath.Base(rel),
		Directory: filepath.Join(p.root, rel), Configuration: &configuration,
	}
}
