package manager

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"simplex/internal/durable"
	"simplex/internal/safepath"
	"simplex/manager/configuration"
	"simplex/manager/protocol"
	"simplex/manager/record"
	"simplex/manager/reference"
)

// secret is planted in every configuration: it must be nowhere but in records and
// answers.
const secret = "sk-never-to-be-seen-4711"

const source = "# a comment that must survive\nclient: {endpoint: 'ws://127.0.0.1:1/events'}\n" +
	"driver_model: m\nproviders: {m: {model: x, endpoint: {auth: {api_key: " + secret + "}}}}\n"

// childVariable makes the test binary a process that answers one request, as the command
// does; childKill makes it kill itself before the n-th labelled call that changes
// something, or with childEverything before the n-th of all.
const (
	childVariable   = "MANAGER_TEST_REQUEST"
	childKill       = "MANAGER_TEST_KILL"
	childEverything = "MANAGER_TEST_EVERYTHING"
)

// changes tells whether a call can change what a later process finds.
func changes(call durable.Call) bool {
	switch call {
	case durable.CallMkdir, durable.CallChmod, durable.CallWrite, durable.CallFsync, durable.CallRename,
		durable.CallUnlink, durable.CallFlock, safepath.CallRmdir, safepath.CallMark:
		return true
	}
	return false
}

func TestMain(m *testing.M) {
	if argument := os.Getenv(childVariable); argument != "" {
		os.Exit(childMain(argument))
	}
	if os.Getenv(serverVariable) != "" {
		os.Exit(serverMain())
	}
	if os.Getenv(workerVariable) != "" {
		os.Exit(workerMain())
	}
	if !long() {
		if err := flag.Set("rapid.checks", "40"); err != nil { // the command line may say otherwise
			panic(err)
		}
	}
	// Thousands of allocations come and go; in memory that costs no disk.
	if os.Getenv("TMPDIR") == "" && unix.Access("/dev/shm", unix.W_OK) == nil {
		if err := os.Setenv("TMPDIR", "/dev/shm"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

func childMain(argument string) int {
	left, _ := strconv.Atoi(os.Getenv(childKill))
	everything := os.Getenv(childEverything) != ""
	hook := func(_ string, op durable.Op) error {
		if !everything && !changes(op.Call) {
			return nil
		}
		if left--; left == 0 {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		return nil
	}
	req, failure := protocol.Decode(argument)
	if failure == nil {
		result, err := New(Config{Hook: hook}).Handle(context.Background(), req)
		if failure = err; failure == nil {
			if protocol.WriteResult(os.Stdout, req.RequestID, result.Write) != nil {
				return 3
			}
			return 0
		}
	}
	_, _ = os.Stdout.Write(protocol.AppendError(nil, req.RequestID, failure))
	return 1
}

// childCommand is a process that handles one request. The kill counts from 1; 0: none.
func childCommand(tb testing.TB, req *protocol.Request, kill int) *exec.Cmd {
	tb.Helper()
	argument, err := req.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", childVariable+"="+argument, childKill+"="+strconv.Itoa(kill))
	if long() {
		cmd.Env = append(cmd.Env, childEverything+"=1")
	}
	return cmd
}

// answerOf handles a request in this process and gives the result object.
func answerOf(m *Manager, req *protocol.Request) (jsontext.Value, *protocol.Error) {
	result, failure := m.Handle(context.Background(), req)
	if failure != nil {
		return nil, failure
	}
	defer result.Close()
	var b bytes.Buffer
	if err := result.Write(&b); err != nil {
		return nil, protocol.NewError(protocol.IOError, err.Error())
	}
	return b.Bytes(), nil
}

// place is a fresh directory with what tests ask about it.
type place struct {
	testing.TB
	m    *Manager
	root string // the parent of the allocations

	rootless bool // the test itself took a ready allocation's root away
}

func newPlace(tb testing.TB) *place {
	tb.Helper()
	root := filepath.Join(tb.TempDir(), "allocations")
	if err := os.Mkdir(root, 0o700); err != nil {
		tb.Fatal(err)
	}
	return &place{TB: tb, m: New(Config{}), root: root}
}

func (p *place) directory(id string) string { return filepath.Join(p.root, id) }

func (p *place) request(op protocol.Operation, id string) *protocol.Request {
	return &protocol.Request{RequestID: "r", Operation: op, AllocationID: id, Directory: p.directory(id)}
}

func (p *place) prepareRequest(id string) *protocol.Request {
	req := p.request(protocol.Prepare, id)
	req.Configuration = new(source)
	return req
}

func (p *place) refreshRequest(id, url string, revision uint64) *protocol.Request {
	req := p.request(protocol.Prepare, id)
	req.Refresh = &protocol.Refresh{ClientEndpoint: &url}
	if revision > 0 {
		req.ExpectedRevision = &revision
	}
	return req
}

func (p *place) captureRequest(id, lifecycle string, revision uint64) *protocol.Request {
	req := p.request(protocol.CaptureStartup, id)
	req.LifecycleID, req.ExpectedRevision = &lifecycle, &revision
	return req
}

func (p *place) forkRequest(child, parent, lifecycle string, revision uint64) *protocol.Request {
	req := p.request(protocol.CleanFork, child)
	req.Source = &protocol.Source{AllocationID: parent, Directory: p.directory(parent), LifecycleID: lifecycle, Revision: revision}
	return req
}

// must handles a request that has to succeed.
func (p *place) must(req *protocol.Request) map[string]jsontext.Value {
	p.Helper()
	raw, failure := answerOf(p.m, req)
	if failure != nil {
		p.Fatalf("%s %s: %v", req.Operation, req.AllocationID, failure)
	}
	return members(p, raw)
}

// refused handles a request that has to fail with the code.
func (p *place) refused(req *protocol.Request, want protocol.Code) *protocol.Error {
	p.Helper()
	raw, failure := answerOf(p.m, req)
	if failure == nil {
		p.Fatalf("%s %s: not refused: %s", req.Operation, req.AllocationID, raw)
	}
	if failure.Code != want {
		p.Errorf("%s %s: %v, want %s", req.Operation, req.AllocationID, failure, want)
	}
	if strings.Contains(failure.Message, secret) {
		p.Errorf("%s: the message holds the secret", req.Operation)
	}
	return failure
}

func members(tb testing.TB, raw []byte) map[string]jsontext.Value {
	tb.Helper()
	m := map[string]jsontext.Value{}
	if err := json.Unmarshal(raw, &m); err != nil {
		tb.Fatalf("%v in %s", err, raw)
	}
	return m
}

func (p *place) write(path, content string) {
	p.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
	if err != nil {
		p.Fatal(err)
	}
}

// recordBytes is the record as it lies there, "" for none.
func (p *place) recordBytes(id string) string {
	raw, err := os.ReadFile(filepath.Join(p.root, protocol.ManagerDirectory, id+recordSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Fatal(err)
	}
	return string(raw)
}

func (p *place) record(id string) *record.Record {
	p.Helper()
	raw := p.recordBytes(id)
	if raw == "" {
		return nil
	}
	rec, err := record.Decode([]byte(raw))
	if err != nil {
		p.Fatalf("record %s: %v", id, err)
	}
	return rec
}

// tree lists everything below dir with mode, time and content.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := []byte{}
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%v %v %s %q\n", info.Mode(), info.ModTime().UnixNano(), path, content)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// leftovers are the temporary names beside the allocations.
func (p *place) leftovers() []string {
	var out []string
	entries, _ := os.ReadDir(filepath.Join(p.root, protocol.ManagerDirectory))
	for _, e := range entries {
		for _, suffix := range []string{tempSuffix, stageSuffix, trashSuffix} {
			if strings.HasSuffix(e.Name(), suffix) {
				out = append(out, e.Name())
			}
		}
	}
	return out
}

// checkSound is what must be true at every instant, whatever was killed.
func (p *place) checkSound(where string) {
	p.Helper()
	entries, err := os.ReadDir(p.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != protocol.ManagerDirectory && p.recordBytes(e.Name()) == "" {
			p.Errorf("%s: %s is there without a record", where, e.Name())
		}
	}
	records, _ := filepath.Glob(filepath.Join(p.root, protocol.ManagerDirectory, "*"+recordSuffix))
	for _, path := range records {
		id := strings.TrimSuffix(filepath.Base(path), recordSuffix)
		rec := p.record(id)
		_, err := os.Lstat(p.directory(id))
		switch rec.Status {
		case record.Ready:
			raw, err := os.ReadFile(configuration.Path(p.directory(id)))
			if p.rootless {
				continue
			}
			if err != nil {
				p.Errorf("%s: %s is ready without its reference: %v", where, id, err)
			} else if ref, err := reference.Decode(raw); err != nil || ref.Nonce != rec.Nonce {
				p.Errorf("%s: %s: reference: %v", where, id, err)
			}
		case record.Retired:
			if err == nil {
				p.Errorf("%s: %s is retired and still there", where, id)
			}
		}
		if (rec.Status == record.Retired || rec.Status == record.Removing) && strings.Contains(p.recordBytes(id), secret) {
			p.Errorf("%s: %s is %s and holds the secret", where, id, rec.Status)
		}
	}
}

// secretsBelow lists the files that hold the planted secret.
func secretsBelow(tb testing.TB, dir string) []string {
	tb.Helper()
	var out []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if raw, _ := os.ReadFile(path); bytes.Contains(raw, []byte(secret)) {
				out = append(out, path)
			}
		}
		return nil
	})
	return out
}
