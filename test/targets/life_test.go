package targets

import (
	"strings"
	"testing"
)

const workerYAML = `# a comment that survives: ünïcödé, $HOME, 'quotes' and "more"
client: {endpoint: "ws://127.0.0.1:1/events"}
driver_model: main
providers: {main: {model: m, endpoint: {auth: {api_key: "sk-'$x'"}}}}
worker: {environment: {workspace: "../w s"}}
`

// step is one request of a life, or files that a worker would have written before it.
type step struct {
	request string
	plant   map[string]string
	code    int
	holds   []string // texts of the answer, read one after the other
}

// life is an allocation from its preparation to its tombstone.
func life(s store) []step {
	refresh := func(port string, revision int) object {
		return object{"refresh": object{"client_endpoint": "ws://127.0.0.1:" + port + "/events"}, "expected_revision": revision}
	}
	first := s.request("prepare", "life", object{
		"configuration": workerYAML, "refresh": object{"client_endpoint": "ws://127.0.0.1:8765/events"},
	})
	fork := s.request("clean_fork", "child", object{
		"source": object{"allocation_id": "life", "directory": s.directory("life"), "lifecycle_id": "start-1", "revision": 2},
	})
	inspect, read, remove := s.request("inspect", "life", nil), s.request("read_state", "life", nil), s.request("remove", "life", nil)
	return []step{
		{request: inspect, code: 1, holds: []string{`"code":"not_found"`}},
		{request: first, holds: []string{`"status":"ready","revision":1,`, `"created":true`}},
		{request: first, holds: []string{`"revision":1,`, `"created":false`}},
		{request: s.request("prepare", "life", refresh("9000", 1)), holds: []string{`"revision":2,`}},
		{request: s.request("prepare", "life", refresh("9001", 1)), code: 1, holds: []string{`"code":"revision_mismatch"`}},
		{request: inspect, holds: []string{`"lease":"idle"`, `ünïcödé, $HOME, 'quotes'`, `sk-'$x'`}},
		{
			request: s.request("capture_startup", "life", object{"lifecycle_id": "start-1", "expected_revision": 2}),
			holds:   []string{`"lifecycle_id":"start-1","revision":2`, "9000"},
		},
		{request: read, holds: []string{`{"backend":"json","state":null,"readable":null}`}},
		{
			plant: map[string]string{
				"state.json":  "{\n  \"big\": 9007199254740993,\n  \"price\": 1.10,\n  \"text\": \"\u2028 \U0001F600 it's\"\n}\n",
				"readable.md": "# It's\n\ttext \x00\x1b[31m\n",
			},
			request: read, holds: []string{`"big":`, "9007199254740993", `"price":`, "1.10", `"readable":"# It's\n\ttext \u0000\u001b[31m\n"`},
		},
		{request: fork, holds: []string{`"revision":1,`, `"created":true,"fork_origin":{"allocation_id":"life"`}},
		{request: remove, holds: []string{`{"status":"retired","removed":true}`}},
		{request: remove, holds: []string{`{"status":"retired","removed":false}`}},
		{request: first, code: 1, holds: []string{`"code":"retired"`}},
		{request: inspect, holds: []string{`"status":"retired"`}},
		{request: fork, holds: []string{`"created":false`}},
		{request: s.request("remove", "child", nil), holds: []string{`"removed":true`}},
		{request: s.request("explode", "life", nil), code: 1, holds: []string{`"code":"unsupported_operation"`}},
		{request: s.request("inspect", "life", object{"directory": "relative"}), code: 1, holds: []string{`"code":"invalid_request"`}},
		{request: "not JSON", code: 1, holds: []string{`"request_id":null`, `"code":"invalid_request"`}},
	}
}

// The same requests give the same bytes and exit codes, whatever the way.
func TestLifeIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	s := newStore(t, "life")
	var want []answer
	for _, tg := range everywhere(t) {
		s.fresh(t, tg)
		for i, st := range life(s) {
			if st.plant != nil {
				tg.plant(t, s.directory("life"), st.plant)
			}
			got := tg.manage(t, st.request)
			if tg.name == "local" {
				want = append(want, got)
			}
			checkStep(t, tg, st, got)
			if got != want[i] {
				t.Errorf("%s: %s\ngot  %v\nwant %v", tg.name, st.request, got, want[i])
			}
		}
	}
}

func checkStep(t *testing.T, tg target, st step, got answer) {
	t.Helper()
	rest := got.stdout
	for _, text := range st.holds {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("%s: %s\nno %s in %s", tg.name, st.request, text, got.stdout)
			return
		}
		rest = after
	}
	if got.code != st.code || got.stderr != "" || strings.Count(got.stdout, "\n") != 1 || !strings.HasSuffix(got.stdout, "\n") {
		t.Errorf("%s: %s\n%v, want code %d", tg.name, st.request, got, st.code)
	}
}

// Help and version are plain text everywhere; what a container is checked by.
func TestVersion(t *testing.T) {
	t.Parallel()
	for _, tg := range everywhere(t) {
		got := tg.simplex(t, "--version")
		if got.code != 0 || got.stderr != "" || strings.Count(got.stdout, ".") != 2 {
			t.Errorf("%s: %v", tg.name, got)
		}
		if got := tg.simplex(t, "manage", "--help"); got.code != 0 || !strings.Contains(got.stdout, "--request") {
			t.Errorf("%s: %v", tg.name, got)
		}
	}
}
