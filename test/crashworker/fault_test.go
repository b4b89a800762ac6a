//go:build crash

package crashworker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

// diskFault is what the kernel does to calls on one file of the database.
type diskFault struct {
	file, calls, errno, when string
}

func (f diskFault) String() string {
	return fmt.Sprintf("%s at %s %s of %s", f.errno, f.calls, f.when, f.file)
}

func (f diskFault) prefix(root, log string) []string {
	return []string{
		"strace", "-D", "-f", "-qq", "-o", log, "-P", filepath.Join(root, "state", f.file),
		"-e", "trace=" + f.calls, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.calls, f.errno, f.when),
	}
}

func diskFaults() (out []diskFault) {
	for _, file := range []string{"state.db", "state.db-wal"} {
		for _, kind := range [][2]string{{"pwrite64", "EIO"}, {"pwrite64", "ENOSPC"}, {"fsync,fdatasync", "EIO"}, {"fsync,fdatasync", "ENOSPC"}} {
			for _, when := range []string{"1", "2", "3", "5", "8", "1+", "3+", "6+"} {
				out = append(out, diskFault{file, kind[0], kind[1], when})
			}
		}
	}
	return out
}

// faultFigures are what faults of the disk come to.
type faultFigures struct {
	figures
	struck, told, endured int
}

// TestDatabaseFaultsOfTheWorker fails writes and fsyncs of the database and its log below
// the real worker, once and from then on: the run is told, the worker stops, nothing that
// was told is lost, and the next worker goes on.
func TestDatabaseFaultsOfTheWorker(t *testing.T) {
	need(t, "strace")
	var f faultFigures
	for _, fault := range diskFaults() {
		t.Run(strings.ReplaceAll(fault.String(), " ", "_"), func(t *testing.T) { f.fail(t, fault) })
	}
	fmt.Printf("faults  worker format=sqlite faults=%d struck=%d told=%d endured=%d %v\n", f.points, f.struck, f.told, f.endured, &f.figures)
	if f.lost+f.corrupt > 0 || f.told < 16 {
		t.Errorf("%s", strings.Join(f.first, "\n"))
	}
}

func (f *faultFigures) fail(t *testing.T, fault diskFault) {
	root := t.TempDir()
	r := worker(t, "sqlite", root)
	first(r) // so that the database is there
	log := filepath.Join(r.Dir, "strace")
	r.Prefix = fault.prefix(root, log)
	p := r.Online()
	r.Payload(rig.Approved("q2", "work"))
	events := r.Until("run_finished")
	var known told
	known.take(events)
	f.acknowledged += known.calls + known.results
	end := events[len(events)-1]
	if end.Field("status") == "completed" && string(end.Value("durable")) == "true" {
		p.Signal(os.Interrupt) // its last save may fail yet
		p.Wait()
		known.finished = false // that of the run before is no other
	} else {
		p.Exits(1)
		f.told++
		f.announced(fault, r, p)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	struck := strings.Contains(string(raw), "(INJECTED")
	if struck {
		f.struck++
	}
	if end.Field("status") == "completed" && struck {
		f.endured++ // by a checkpoint, which is no save
	}
	if end.Field("status") != "completed" && !struck {
		f.found(&f.corrupt, "%v: failed without a fault: %s", fault, end.Raw)
	}
	f.points++
	r.Prefix = nil
	f.afterwards(fault.String(), "sqlite", root, r, &known, r.Effects())
}

// first is a run without tools, in which a session begins.
func first(r *rig.Rig) {
	answer := r.Model.Answer
	r.Model.Answer = func(int, string) rig.Reply { return rig.Reply{Text: "Hello."} }
	p := r.Online()
	r.Payload(rig.Approved("q0", "hello"))
	r.Completes()
	p.Stop()
	r.Model.Answer = answer
}

// announced checks how a failed save was told. A run whose last save failed did complete, and
// says that it is not durable.
func (f *faultFigures) announced(fault diskFault, r *rig.Rig, p *rig.Program) {
	failures, after := 0, 0
	events := r.Hub.Events()
	for i, e := range events {
		last := i > 0 && events[i-1].Name == "error"
		switch {
		case e.Name == "error" && string(e.Value("durable")) == "false":
			failures++
		case e.Name == "persisted" && failures > 0:
			after++
		case e.Name == "run_finished" && failures > 0 && (e.Field("status") == "completed" && !last || string(e.Value("durable")) == "true"):
			after++
		}
	}
	if failures != 1 || after > 0 || !strings.Contains(p.Stderr.String(), "storage failed") {
		f.found(&f.corrupt, "%v: told %d times, %d events deny it; %s", fault, failures, after, p.Stderr)
	}
}
