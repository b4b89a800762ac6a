//go:build crash

package crash

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// secret is planted in every configuration.
const secret = "sk-planted-in-the-source"

const managerDir = ".simplex-manager"

// bench is one binary under test and a fresh place for one point.
type bench struct {
	tb     testing.TB
	binary string
	root   string // of the point at work
	fixed  string // root of every point, on a file system of its own; "": a fresh directory each
	n      int
	random *rand.Rand // layer D2
	alive  string     // the canary as it was planted
}

// answer is one response; code is "" for success and "none" where there was no response.
type answer struct {
	code      string
	published *bool
	result    map[string]jsontext.Value
	text      string
}

func (b *bench) fresh() {
	if b.fixed != "" {
		b.root = b.fixed
		b.plantCanary()
		return
	}
	b.n++
	b.root = filepath.Join(b.tb.TempDir(), strconv.Itoa(b.n))
	if err := os.Mkdir(b.root, 0o700); err != nil {
		b.tb.Fatal(err)
	}
	b.plantCanary()
}

func (b *bench) dir(id string) string { return filepath.Join(b.root, "up", id) }

// request gives the argument of one request about the allocation id.
func (b *bench) request(op, id, more string) string {
	text := fmt.Sprintf(`{"version":1,"request_id":"r","operation":%q,"allocation_id":%q,"directory":%q%s}`, op, id, b.dir(id), more)
	return base64.StdEncoding.EncodeToString([]byte(text))
}

func (b *bench) prepare(id string) string {
	return b.request("prepare", id, `,"configuration":"# kept\nclient: {endpoint: ws://h/}\nkey: `+secret+`\n"`)
}

// run answers a request without disturbance.
func (b *bench) run(argument string) answer {
	b.tb.Helper()
	out, err := exec.Command(b.binary, "manage", "--request", argument).Output()
	a := parse(out)
	if (err == nil) != (a.code == "") {
		b.tb.Errorf("the exit code does not fit the response: %v, %s", err, out)
	}
	return a
}

// strace runs a request with an injection and tells whether the process was killed, and
// whether the injection struck at all.
func (b *bench) strace(argument, call, injection string) (a answer, killed, struck bool) {
	b.tb.Helper()
	log := filepath.Join(os.TempDir(), fmt.Sprintf("strace-%d.log", os.Getpid()))
	defer os.Remove(log)
	cmd := exec.Command("strace", "-f", "-qq", "-o", log, "-e", "trace="+call, "-e", "inject="+call+":"+injection, b.binary, "manage", "--request", argument)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := cmd.Output()
	raw, rerr := os.ReadFile(log)
	if rerr != nil {
		b.tb.Fatalf("strace: %v, %v", err, rerr)
	}
	killed = bytes.Contains(raw, []byte("killed by SIGKILL"))
	return parse(out), killed, killed || bytes.Contains(raw, []byte("(INJECTED)"))
}

func parse(out []byte) answer {
	var r struct {
		OK     bool                      `json:"ok"`
		Result map[string]jsontext.Value `json:"result"`
		Error  struct {
			Code      string `json:"code"`
			Published *bool  `json:"published"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(out, &r); {
	case err != nil:
		return answer{code: "none", text: string(out)}
	case r.OK:
		return answer{result: r.Result, text: string(out)}
	}
	return answer{code: r.Error.Code, published: r.Error.Published, text: string(out)}
}

func (b *bench) recordPath(id string) string {
	return filepath.Join(b.root, "up", managerDir, id+".json")
}

func (b *bench) record(id string) string {
	raw, _ := os.ReadFile(b.recordPath(id))
	return string(raw)
}

// visible is what the renames of a request change: the record, and whether the root is there.
func (b *bench) visible(id string) string {
	info, err := os.Lstat(b.dir(id))
	if err != nil {
		return b.record(id)
	}
	return fmt.Sprintf("%s root %d", b.record(id), info.Sys().(*syscall.Stat_t).Ino)
}

// violations is what must never be seen, whatever was killed.
func (b *bench) violations() []string {
	out := b.unsound()
	if n := len(b.leftovers()); n > 1 {
		out = append(out, fmt.Sprintf("%d temporary names", n))
	}
	return out
}

// unsound is what a power cut must not leave, either.
func (b *bench) unsound() (out []string) {
	out = b.escaped()
	entries, _ := os.ReadDir(filepath.Join(b.root, "up"))
	for _, e := range entries {
		id := e.Name()
		if id != managerDir && b.record(id) == "" {
			out = append(out, id+" has no record")
		}
	}
	records, _ := filepath.Glob(b.recordPath("*"))
	for _, path := range records {
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		raw := b.record(id)
		a := b.run(b.request("inspect", id, ""))
		status, _ := jsontext.AppendUnquote(nil, a.result["status"])
		_, err := os.Stat(filepath.Join(b.dir(id), "config/config.yaml"))
		switch {
		case a.code != "":
			out = append(out, id+": inspect: "+a.text)
		case string(status) == "ready" && err != nil:
			out = append(out, id+" is ready and not complete")
		case (string(status) == "removing" || string(status) == "retired") && strings.Contains(raw, secret):
			out = append(out, id+" is "+string(status)+" and holds the secret")
		}
	}
	return out
}

func (b *bench) leftovers() (out []string) {
	entries, _ := os.ReadDir(filepath.Join(b.root, "up", managerDir))
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".tmp", ".stage", ".trash":
			out = append(out, e.Name())
		}
	}
	return out
}

// finish repeats the request twice.
func (b *bench) finish(argument string, removes bool) (out []string) {
	first := b.run(argument)
	if first.code != "" {
		return []string{"the repeat: " + first.text}
	}
	if left := b.leftovers(); len(left) > 0 {
		out = append(out, fmt.Sprintf("left over: %v", left))
	}
	before := b.tree()
	if second := b.run(argument); second.code != "" || b.tree() != before {
		out = append(out, "the second repeat changed something: "+second.text)
	}
	if removes && strings.Contains(before, secret) {
		out = append(out, "the secret is still there")
	}
	return append(out, b.violations()...)
}

// tree is everything below the root, byte for byte.
func (b *bench) tree() string { return treeOf(b.tb, b.root) }

func treeOf(tb testing.TB, root string) string {
	tb.Helper()
	var s strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		raw := []byte{}
		switch {
		case d.Type().IsRegular():
			raw, err = os.ReadFile(path)
		case d.Type()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(path)
			raw = []byte(target)
		}
		fmt.Fprintf(&s, "%v %v %s %q\n", info.Mode(), info.ModTime().UnixNano(), path, raw)
		return err
	})
	if err != nil {
		return err.Error()
	}
	return s.String()
}
