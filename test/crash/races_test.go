//go:build crash

package crash

import (
	"cmp"
	"encoding/base64"
	"encoding/json/v2"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const raceRounds = 200

// contender is one request in a race.
type contender struct {
	rel, argument string
	kind          string
}

// together lets every request run in a process of its own that waits for the start.
func (b *bench) together(all []contender) []answer {
	b.tb.Helper()
	gate, open, err := os.Pipe()
	if err != nil {
		b.tb.Fatal(err)
	}
	defer gate.Close()
	cmds := make([]*exec.Cmd, len(all))
	outs := make([]strings.Builder, len(all))
	for i, c := range all {
		cmds[i] = exec.Command("sh", "-c", `read x <&3; exec "$@" 3<&-`, "sh", b.binary, "manage", "--request", c.argument)
		cmds[i].ExtraFiles, cmds[i].Stdout = []*os.File{gate}, &outs[i]
		if err := cmds[i].Start(); err != nil {
			b.tb.Fatal(err)
		}
	}
	_ = open.Close()
	answers := make([]answer, len(all))
	for i, cmd := range cmds {
		_ = cmd.Wait()
		answers[i] = parse([]byte(outs[i].String()))
	}
	return answers
}

// race are the figures of rounds of races.
type race struct {
	rounds, nested, lies, stuck int
	codes                       map[string]int
	slowest                     time.Duration
}

func (r *race) String() string {
	return fmt.Sprintf("rounds=%d processes=32 nested=%d wrong_answers=%d stuck_lock=%d max_lease_release_ms=%d answers=%v",
		r.rounds, r.nested, r.lies, r.stuck, r.slowest.Milliseconds(), r.codes)
}

// count takes the answers in; allowed are the codes of the contract for these requests.
func (r *race) count(tb testing.TB, all []contender, answers []answer, allowed ...string) {
	tb.Helper()
	for i, a := range answers {
		r.codes[cmp.Or(a.code, "ok")]++
		switch {
		case !slices.Contains(allowed, a.code):
		case a.code == "busy" && (a.published == nil || *a.published):
		default:
			continue
		}
		if r.lies++; r.lies < 5 {
			tb.Errorf("%s %s: %s", all[i].kind, all[i].rel, a.text)
		}
	}
}

// free sees that nobody holds a lock once all processes are gone.
func (r *race) free(b *bench, argument string) answer {
	start := time.Now()
	for {
		a := b.run(argument)
		if a.code != "busy" {
			r.slowest = max(r.slowest, time.Since(start))
			return a
		}
		if time.Since(start) > 2*time.Second {
			r.stuck++
			return a
		}
	}
}

func (b *bench) at(rel, configuration string) contender {
	text := fmt.Sprintf(`{"version":1,"request_id":"r","operation":"prepare","allocation_id":%q,"directory":%q,"configuration":%q}`,
		filepath.Base(rel), filepath.Join(b.root, "up", rel), configuration)
	return contender{rel, base64.StdEncoding.EncodeToString([]byte(text)), "prepare"}
}

// family are 32 requests for parents, children, siblings and the same identity.
func (b *bench) family(round int) (out []contender) {
	counts := []struct {
		rel string
		n   int
	}{
		{"p", 3},
		{"p/c", 4},
		{"p/c/g", 3},
		{"p/x/y/g", 3},
		{"p/x", 2},
		{"s", 2},
		{"t", 1},
		{"same", 3},
		{"q/r/s", 3},
		{"q/r", 2},
		{"q", 2},
		{"u", 1},
		{"v", 1},
		{"w", 1},
	}
	for _, c := range counts {
		for range c.n {
			out = append(out, b.at(c.rel, "a: 1"))
		}
	}
	out = append(out, b.at("same", "a: 2"))
	shift := round % len(out) // the first have a head start
	return append(out[shift:], out[:shift]...)
}

// nested counts pairs of claims of which one lies inside the other.
func (b *bench) nested() (n int) {
	b.tb.Helper()
	var claims []string
	err := filepath.WalkDir(b.root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var rec struct {
			Directory string `json:"directory"`
		}
		claims = append(claims, "")
		err = json.Unmarshal(raw, &rec)
		claims[len(claims)-1] = rec.Directory + "/"
		return err
	})
	if err != nil {
		b.tb.Error(err)
	}
	slices.Sort(claims)
	for i := range claims[:max(0, len(claims)-1)] {
		if strings.HasPrefix(claims[i+1], claims[i]) {
			n++
		}
	}
	return n
}

func prepareRaces(b *bench, rounds int, enough bool) *race {
	b.tb.Helper()
	r := &race{codes: map[string]int{}}
	for round := range rounds {
		r.rounds++
		b.fresh()
		all := b.family(round)
		answers := b.together(all)
		if !enough {
			r.count(b.tb, all, answers, "", "busy", "nested_allocation", "unmanaged_directory", "conflict")
		}
		r.nested += b.nested()
		for i, a := range answers {
			if a.code == "busy" {
				r.free(b, all[i].argument)
				break
			}
		}
		r.nested += b.nested()
		for _, problem := range b.escaped() {
			b.tb.Error(problem)
		}
		if enough && r.nested > 0 {
			break
		}
		_ = os.RemoveAll(b.root)
	}
	return r
}

func TestPrepareRaces(t *testing.T) {
	r := prepareRaces(&bench{tb: t, binary: build(t, "")}, raceRounds, false)
	report(t, "races   prepare %v", r)
	if r.nested > 0 || r.stuck > 0 || r.codes["ok"] < r.rounds {
		t.Errorf("%v", r)
	}
}

// Without the locks of the directories above, the races must find nested claims.
func TestPrepareRacesSeePlantedFault(t *testing.T) {
	p := planted{name: "no ancestor locks", file: "internal/safepath/lock.go", old: `	if err := d.ops.lock(d.fd, d.path, kind); err != nil {
		return &Error{"lock directory", d.path, err}
	}
`}
	r := prepareRaces(&bench{tb: t, binary: build(t, p.overlay(t))}, raceRounds, true)
	report(t, "control races: %-30s rounds=%d nested=%d", p.name, r.rounds, r.nested)
	if r.nested == 0 {
		t.Errorf("%s was not seen in %d rounds", p.name, r.rounds)
	}
}

// crowd are 32 requests about one allocation and its forks.
func (b *bench) crowd(round int) (out []contender) {
	add := func(n int, kind, op, id, more string) {
		for range n {
			out = append(out, contender{id, b.request(op, id, more), kind})
		}
	}
	source := fmt.Sprintf(`,"source":{"allocation_id":"a","directory":%q,"lifecycle_id":"l","revision":1}`, b.dir("a"))
	add(3, "one", "prepare", "a", `,"refresh":{"client_endpoint":"ws://one/"},"expected_revision":1`)
	add(3, "two", "prepare", "a", `,"refresh":{"client_endpoint":"ws://two/"},"expected_revision":1`)
	add(3, "capture", "capture_startup", "a", `,"lifecycle_id":"next","expected_revision":1`)
	add(4, "fork", "clean_fork", "f", source)
	add(3, "fork", "clean_fork", "g", source)
	add(5, "read", "read_state", "a", "")
	add(4, "inspect", "inspect", "a", "")
	add(5, "remove", "remove", "a", "")
	for range 2 {
		out = append(out, contender{"a", b.prepare("a"), "prepare"})
	}
	shift := round % len(out)
	return append(out[shift:], out[:shift]...)
}

// Removals, forks, refreshes and readers of one allocation at once.
func TestLifeRaces(t *testing.T) {
	b := &bench{tb: t, binary: build(t, "")}
	r := &race{codes: map[string]int{}}
	removed := 0
	for round := range raceRounds {
		r.rounds++
		b.fresh()
		for _, argument := range []string{b.prepare("a"), b.request("capture_startup", "a", `,"lifecycle_id":"l","expected_revision":1`)} {
			if a := b.run(argument); a.code != "" {
				t.Fatal(a.text)
			}
		}
		all := b.crowd(round)
		answers := b.together(all)
		r.count(t, all, answers, "", "busy", "retired", "revision_mismatch", "lifecycle_conflict", "not_ready")
		passed := map[string]int{}
		for i, a := range answers {
			if a.code == "" {
				passed[all[i].kind]++
			}
		}
		where := fmt.Sprintf("round %d: %v", round, passed)
		if passed["one"] > 0 && passed["two"] > 0 || passed["inspect"] != 4 {
			t.Errorf("%s: two refreshes of one revision, or an inspect refused", where)
		}
		if passed["remove"] > 0 {
			removed++
		}
		if problems := append(b.unsound(), b.leftovers()...); len(problems) > 0 {
			t.Errorf("%s: %q", where, problems)
		}
		if a := r.free(b, b.request("remove", "a", "")); a.code != "" {
			t.Errorf("%s: %s", where, a.text)
		}
		_ = os.RemoveAll(b.root)
	}
	report(t, "races   life removed=%d %v", removed, r)
	if r.stuck > 0 || removed == 0 {
		t.Errorf("%v", r)
	}
}
