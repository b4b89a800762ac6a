package targets

import (
	"encoding/base64"
	"encoding/json/v2"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// object is a JSON object.
type object = map[string]any

// store is a directory of allocations, the same path on every target.
type store struct{ root string }

// newStore gives a root with an odd name that no other test uses.
func newStore(t testing.TB, name string) store {
	t.Helper()
	programs(t)
	return store{root: filepath.Join(shared.odd, name, "allocations")}
}

// fresh makes the root's parent on a target, where nothing of an earlier target's
// allocations is left, tombstones included: ssh leads to the same files as a local call.
// Tests beside this one have other parents: while a directory is made, the one above it
// is locked, and whoever passes it is told busy.
func (s store) fresh(t testing.TB, tg target) {
	t.Helper()
	script := `rm -rf "$1" && mkdir -p "$1"`
	if got, err := tg.call(t, shell, "-c", script, "sh", filepath.Dir(s.root)); err != nil || got.code != 0 {
		t.Fatalf("%s: %v %v", tg.name, err, got)
	}
}

func (s store) directory(id string) string { return filepath.Join(s.root, id) }

// request is the JSON of one request.
func (s store) request(operation, id string, more object) string {
	req := object{
		"version": 1, "request_id": "op-" + operation, "operation": operation, "allocation_id": id, "directory": s.directory(id),
	}
	maps.Copy(req, more)
	raw, err := json.Marshal(req, json.Deterministic(true))
	if err != nil {
		panic(err) // a mistake of the test
	}
	return string(raw)
}

func encoded(request string) string { return base64.StdEncoding.EncodeToString([]byte(request)) }

// manage sends one request to a target.
func (tg target) manage(t testing.TB, request string) answer {
	t.Helper()
	return tg.simplex(t, "manage", "--request", encoded(request))
}

// must is manage for a request that has to succeed.
func (tg target) must(t testing.TB, request string) answer {
	t.Helper()
	a := tg.manage(t, request)
	if a.code != 0 || !strings.Contains(a.stdout, `"ok":true`) || a.stderr != "" {
		t.Fatalf("%s: %.300s\nexit code %d, stdout %.2000s\nstderr %s", tg.name, request, a.code, a.stdout, a.stderr)
	}
	return a
}
