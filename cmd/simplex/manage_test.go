package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"simplex/manager"
	"simplex/manager/protocol"
)

// TestManageScripts drives allocations with the real binary, every script once for each
// storage format: $FORMAT is the one, in configurations, too, and [json] or [sqlite] true;
// $OTHER is the other.
func TestManageScripts(t *testing.T) {
	t.Parallel()
	for _, formats := range [][2]string{{"json", "sqlite"}, {"sqlite", "json"}} {
		t.Run(formats[0], func(t *testing.T) {
			t.Parallel()
			manageScripts(t, formats[0], formats[1])
		})
	}
}

func manageScripts(t *testing.T, format, other string) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/manage",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("FORMAT", format)
			env.Setenv("OTHER", other)
			env.Setenv("EXTENSION", map[string]string{"json": "json", "sqlite": "db"}[format])
			env.Values[leasesKey{}] = map[string]io.Closer{}
			env.Values[staffKey{}] = &staff{workers: map[string]*exec.Cmd{}}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != format && name != other {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return name == format, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"manage":   manageRequest,
			"hold":     holdLease,
			"free":     freeLease,
			"poke":     poke,
			"envsubst": substitute,
			"hub":      startHub,
			"worker":   startWorker,
			"say":      sayToWorker,
			"stop":     stopWorker,
			"slay":     slayWorker,
		},
	})
}

// poke FILE OFFSET HEX writes bytes over a file's.
func poke(ts *testscript.TestScript, _ bool, args []string) {
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	raw, err := hex.DecodeString(args[2])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt(raw, offset)
	ts.Check(err)
	ts.Check(f.Close())
}

// substitute replaces $NAME in files.
func substitute(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(expanded(ts, file)), 0o600))
	}
}

// expanded is a file's text with the script's variables in it.
func expanded(ts *testscript.TestScript, file string) string {
	return os.Expand(ts.ReadFile(file), ts.Getenv)
}

// manage OPERATION ID [MEMBER=VALUE...] sends one request about the allocation ID below
// $WORK/allocations. configuration=FILE, source=ID:LIFECYCLE:REVISION and the members of
// refresh by their own names are put in their form. "! manage" wants a failure.
func manageRequest(ts *testscript.TestScript, neg bool, args []string) {
	req := &protocol.Request{RequestID: "r-1", Operation: protocol.Operation(args[0]), AllocationID: args[1], Directory: allocation(ts, args[1])}
	for _, arg := range args[2:] {
		name, value, _ := strings.Cut(arg, "=")
		setMember(ts, req, name, value)
	}
	argument, err := req.Encode()
	ts.Check(err)
	err = ts.Exec("simplex", "manage", "--request", argument)
	if neg != (err != nil) {
		ts.Fatalf("manage %s: %v", args[0], err)
	}
	if out := ts.ReadFile("stdout"); strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		ts.Fatalf("the response is not one line")
	}
	result, err := protocol.DecodeResponse([]byte(ts.ReadFile("stdout")), req.RequestID)
	if _, refused := err.(*protocol.Error); neg != refused {
		ts.Fatalf("the response does not fit the exit code: %s, %v", result, err)
	}
}

func allocation(ts *testscript.TestScript, id string) string {
	return filepath.Join(ts.Getenv("WORK"), "allocations", id)
}

func setMember(ts *testscript.TestScript, req *protocol.Request, name, value string) {
	refresh := func() *protocol.Refresh {
		if req.Refresh == nil {
			req.Refresh = &protocol.Refresh{}
		}
		return req.Refresh
	}
	switch name {
	case "configuration":
		req.Configuration = new(expanded(ts, value))
	case "expected_revision":
		n, err := strconv.ParseUint(value, 10, 64)
		ts.Check(err)
		req.ExpectedRevision = &n
	case "lifecycle_id":
		req.LifecycleID = &value
	case "source":
		parts := strings.Split(value, ":")
		n, err := strconv.ParseUint(parts[2], 10, 64)
		ts.Check(err)
		req.Source = &protocol.Source{AllocationID: parts[0], Directory: allocation(ts, parts[0]), LifecycleID: parts[1], Revision: n}
	case "client_endpoint":
		refresh().ClientEndpoint = &value
	case "confirmation_endpoint":
		refresh().ConfirmationEndpoint = &value
	case "tools_endpoint":
		refresh().ToolsEndpoint = &value
	default:
		ts.Fatalf("no member %s", name)
	}
}

type leasesKey struct{}

// hold ID takes the lease of the allocation as a worker does. "! hold" wants a refusal,
// which is written to the file refused.
func holdLease(ts *testscript.TestScript, neg bool, args []string) {
	managed, err := manager.New(manager.Config{}).Resolve(filepath.Join(allocation(ts, args[0]), "config", "config.yaml"))
	switch {
	case neg && err == nil:
		_ = managed.Lease.Close()
		ts.Fatalf("the worker was not refused")
	case neg:
		ts.Check(os.WriteFile(ts.MkAbs("refused"), []byte(err.Error()), 0o600))
	default:
		ts.Check(err)
		ts.Value(leasesKey{}).(map[string]io.Closer)[args[0]] = managed.Lease
		ts.Defer(func() { _ = managed.Lease.Close() })
	}
}

// free ID ends the worker.
func freeLease(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Value(leasesKey{}).(map[string]io.Closer)[args[0]].Close())
}

// The largest request that one argument of execve holds, and one byte more.
func TestLargestRequest(t *testing.T) {
	t.Parallel()
	const largest = 98_301 // bytes of JSON: 131,068 characters, and 131,071 is the limit of Linux
	for _, size := range []int{largest, largest + 3} {
		directory := filepath.Join(t.TempDir(), "a")
		text := `{"version":1,"request_id":"r","operation":"prepare","allocation_id":"a","directory":"` + directory + `","configuration":"#`
		text += strings.Repeat("x", size-len(text)-len(`\na: 1"}`)) + `\na: 1"}`
		cmd := exec.Command("simplex", "manage", "--request", base64.StdEncoding.EncodeToString([]byte(text)))
		out, err := cmd.Output()
		if size > largest {
			if err == nil || len(out) > 0 {
				t.Errorf("%d bytes were taken: %v", size, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d bytes: %v: %s", size, err, out)
		}
	}
}

// Standard output that takes nothing makes the command fail.
func TestResponseThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	full := fullDevice(t)
	for _, req := range []*protocol.Request{
		{RequestID: "r", Operation: protocol.Inspect, AllocationID: "a", Directory: filepath.Join(t.TempDir(), "a")},
		{RequestID: "r", Operation: protocol.Prepare, AllocationID: "a", Directory: filepath.Join(t.TempDir(), "a"), Configuration: new("a: 1")},
	} {
		argument, err := req.Encode()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("simplex", "manage", "--request", argument)
		cmd.Stdout = full
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v", req.Operation, err)
		}
	}
}
