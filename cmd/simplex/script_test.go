package main

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"simplex"
	"simplex/state"
)

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("VERSION", simplex.Version())
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Values[snapshotKey{}] = new(string)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"state":     checkState,
			"answer":    checkAnswer,
			"events":    checkEvents,
			"envelope":  checkEnvelope,
			"cut":       cut,
			"snapshot":  snapshot,
			"unchanged": unchanged,
		},
	})
}

// exits CODE PROGRAM [ARGUMENT...] runs a program, which must end with that code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if text := ts.ReadFile("stderr"); strings.Contains(text, "DATA RACE") || strings.Contains(text, "goroutine ") {
		ts.Fatalf("the program is broken")
	}
}

func loadState(ts *testscript.TestScript, file string) *state.State {
	st, err := state.Decode([]byte(ts.ReadFile(file)))
	ts.Check(err)
	return st
}

// state FILE PHASE checks that a file is a valid state in that phase.
func checkState(ts *testscript.TestScript, _ bool, args []string) {
	st := loadState(ts, args[0])
	ts.Check(state.Check(st))
	if got := string(st.Loop.Phase); got != args[1] {
		ts.Fatalf("phase %s, want %s", got, args[1])
	}
	var again bytes.Buffer
	ts.Check(state.Encode(&again, st))
	if again.String() != ts.ReadFile(args[0]) {
		ts.Fatalf("%s is not in the form in which states are written", args[0])
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if info.Mode().Perm() != 0o600 {
		ts.Fatalf("%s has mode %v", args[0], info.Mode())
	}
}

// answer FILE STATE checks that FILE is exactly the last answer in STATE and a newline.
func checkAnswer(ts *testscript.TestScript, _ bool, args []string) {
	turns := loadState(ts, args[1]).Turns
	steps := turns[len(turns)-1].Steps
	want := steps[len(steps)-1].ModelResponse.Text() + "\n"
	if got := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%q is not exactly the answer %q", got, want)
	}
}

// events NAME... checks that standard output is events, one a line, and that these come in
// this order, others among them.
func checkEvents(ts *testscript.TestScript, _ bool, args []string) {
	sequence := uint64(0)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		var e struct {
			Type     string         `json:"type"`
			Event    string         `json:"event"`
			Sequence uint64         `json:"sequence"`
			Data     jsontext.Value `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type != "event" || e.Data == nil {
			ts.Fatalf("no event: %q (%v)", line, err)
		}
		if e.Sequence != sequence+1 {
			ts.Fatalf("sequence %d after %d", e.Sequence, sequence)
		}
		sequence = e.Sequence
		if len(args) > 0 && e.Event == args[0] {
			args = args[1:]
		}
	}
	if len(args) > 0 {
		ts.Fatalf("missing: %v", args)
	}
}

// envelope CODE checks that standard output is one failed manage response.
func checkEnvelope(ts *testscript.TestScript, _ bool, args []string) {
	var r struct {
		Version   int            `json:"version"`
		RequestID jsontext.Value `json:"request_id"`
		OK        bool           `json:"ok"`
		Error     struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	out := ts.ReadFile("stdout")
	ts.Check(json.Unmarshal([]byte(out), &r, json.RejectUnknownMembers(true)))
	if r.Version != 1 || string(r.RequestID) != "null" || r.OK || r.Error.Code != args[0] || r.Error.Message == "" {
		ts.Fatalf("envelope %s", out)
	}
}

// cut FILE LENGTH leaves the first bytes of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

type snapshotKey struct{}

// snapshot remembers everything below data; unchanged compares with that.
func snapshot(ts *testscript.TestScript, _ bool, _ []string) {
	*ts.Value(snapshotKey{}).(*string) = listing(ts)
}

func unchanged(ts *testscript.TestScript, _ bool, _ []string) {
	if now, before := listing(ts), *ts.Value(snapshotKey{}).(*string); now != before {
		ts.Fatalf("the disk has changed:\n%.2000s\nwas\n%.2000s", now, before)
	}
}

func listing(ts *testscript.TestScript) string {
	var out []string
	root := ts.MkAbs("data")
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var raw []byte
		if d.Type().IsRegular() {
			if raw, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		out = append(out, fmt.Sprintf("%s %v %d %q", path, info.Mode(), info.ModTime().UnixNano(), raw))
		return nil
	}))
	slices.Sort(out)
	return strings.Join(out, "\n")
}
