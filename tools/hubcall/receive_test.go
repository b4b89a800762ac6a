package hubcall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"simplex/state"
)

// child is what a Hub tells of a healthy child, without the closing brace.
const child = `{"subagent_id":"a","parent":"s","lifecycle":"ready","policy":"ask","health":"healthy","reason":null,"observed_at":null,"active":true,"process_state":"running","connected":true,"run_id":null,"pending_approvals":2,"error":null`

const childFields = `[[subagent_id]]: a
[[parent]]: s
[[lifecycle]]: ready
[[policy]]: ask
[[health]]: healthy
[[process_state]]: running
[[connected]]: true
[[active]]: true
[[run_id]]: null
[[pending_approvals]]: 2
[[observed_at]]: null
[[reason]]: null
[[error]]: null
`

// talk is a targeted result with requests and turns.
func talk(requests, turns string, next, total int) string {
	return child + fmt.Sprintf(`,"requests":[%s],"requests_truncated":false,"conversation":{"revision":5,"worker_id":"cw","turns":[%s],"truncated":false,"incomplete":false,"stale":false,"refreshed_at":"now","cursor":0,"next":%d,"total":%d}}`,
		requests, turns, next, total)
}

func part(raw string) string {
	return `{"type":"text","modality":"text","raw":` + state.StringValue(raw).String() + `}`
}

func step(index int, raw string) string {
	return fmt.Sprintf(`{"index":%d,"content":[%s],"answer_source":%s}`, index, part(raw), source)
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t, gives(`{"subagents":[`+child+`},`+strings.Replace(child, `"error":null`, `"error":"`+strings.Repeat("é", 300)+`"`, 1)+`}]}`))
	got := b.ok("subagent_receive", `{}`)
	contains(t, got, "[[subagents]]: 2\n\n---\n\n"+childFields+"\n---\n\n", "[[error]]: "+strings.Repeat("é", 256)+"\n")
	if got := b.hub.seen(); !slices.Equal(got, []string{`subagent/receive {}`}) {
		t.Errorf("calls %q", got)
	}
	empty := newBench(t, gives(`{"subagents":[]}`))
	if got := empty.ok("subagent_receive", `{}`); got != "[[subagents]]: 0\n" {
		t.Errorf("got %q", got)
	}
}

func TestTargeted(t *testing.T) {
	t.Parallel()
	requests := `{"request_id":"q1","operation":"message","state":"finished","run_id":"r1","status":"completed","at":"t1"},` +
		`{"request_id":"q2","operation":"compact","state":"finished","run_id":null,"at":"t2","summary":"in short"}`
	turns := `{"index":4,"request_id":"q1","user":[` + part("do it") + `],"steps":[` + step(0, "looking") + `,` + step(1, "done") + `]}`
	b := newBench(t, gives(talk(requests, turns, 1, 7)))
	got := b.ok("subagent_receive", `{"subagent_id":"a","limit":3}`)
	want := childFields + `[[requests_truncated]]: false
[[conversation_available]]: true
[[revision]]: 5
[[worker_id]]: cw
[[cursor]]: 0
[[next]]: 1
[[total]]: 7
[[stale]]: false
[[incomplete]]: false
[[truncated]]: false
[[refreshed_at]]: now
[[output_truncated]]: false

---

[[request_id]]: q1
[[operation]]: message
[[state]]: finished
[[run_id]]: r1
[[at]]: t1
[[run_status]]: completed

---

[[request_id]]: q2
[[operation]]: compact
[[state]]: finished
[[run_id]]: null
[[at]]: t2

compact summary (8 bytes):
in short

---

[[turn]]: 4
[[request_id]]: q1
[[answer_source]]: ` + source + `
[[answer_source]]: ` + source + `

user (text/text) (5 bytes):
do it

assistant step 0 (text/text) (7 bytes):
looking

assistant step 1 (text/text) (4 bytes):
done
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := b.hub.seen(); !slices.Equal(got, []string{`subagent/receive {"cursor":0,"limit":3,"subagent_id":"a"}`}) {
		t.Errorf("calls %q", got)
	}
	odd := strings.Replace(talk(requests, "", 0, 0), `"status":"completed"`, `"status":"vanished"`, 1)
	contains(t, newBench(t, gives(odd)).ok("subagent_receive", `{"subagent_id":"a"}`), "[[run_status]]: unknown\n")
	none := newBench(t, gives(child+`,"requests":[],"requests_truncated":true,"conversation":null}`))
	if got := none.ok("subagent_receive", `{"subagent_id":"a"}`); got != childFields+"[[requests_truncated]]: true\n[[conversation_available]]: false\n[[output_truncated]]: false\n" {
		t.Errorf("got:\n%s", got)
	}
}

func TestTargetedShapes(t *testing.T) {
	t.Parallel()
	good := talk(`{"request_id":"q1","operation":"message","state":"sent","run_id":null,"at":"t"}`,
		`{"index":4,"user":[],"steps":[`+step(3, "x")+`,`+step(5, "y")+`]},{"index":6,"user":[],"steps":[]}`, 2, 2)
	newBench(t, gives(good)).ok("subagent_receive", `{"subagent_id":"a"}`)
	for change, want := range map[[2]string]string{
		{`"lifecycle":"ready"`, `"lifecycle":"happy"`}:                                     "lifecycle is none",
		{`"policy":"ask"`, `"policy":null`}:                                                "policy is none",
		{`"health":"healthy"`, `"health":7`}:                                               "health is none",
		{`"subagent_id":"a"`, `"subagent_id":"b"`}:                                         "subagent_id is another one",
		{`"connected":true`, `"connected":"yes"`}:                                          "connected is neither",
		{`"process_state":"running"`, `"process_state":"` + strings.Repeat("x", 65) + `"`}: "process_state is longer than 64 bytes",
		{`"observed_at":null`, `"observed_at":"` + strings.Repeat("x", 129) + `"`}:         "observed_at is longer than 128 bytes",
		{`"pending_approvals":2`, `"pending_approvals":-2`}:                                "pending_approvals is no count",
		{`"requests_truncated":false`, `"requests_truncated":0`}:                           "requests_truncated is neither",
		{`"state":"sent"`, `"state":"lost"`}:                                               "requests[0].state is none",
		{`"next":2`, `"next":3`}:                                                           "conversation.next does not agree",
		{`"next":2,"total":2`, `"next":2,"total":1`}:                                       "conversation.next does not agree",
		{`"index":6`, `"index":4`}:                                                         "conversation.turns[1].index does not increase",
		{`"index":5`, `"index":3`}:                                                         "conversation.turns[0].steps[1].index does not increase",
		{`"steps":[]`, `"steps":{}`}:                                                       "conversation.turns[1].steps is no list",
		{`"raw":"x"`, `"raw":null`}:                                                        "steps[0].content[0].raw is no string",
		{`"type":"text"`, `"type":"html"`}:                                                 "content[0].type is none",
		{`"fingerprint":"0`, `"fingerprint":"X`}:                                           "answer_source is no answer source",
		{`"stale":false,`, ``}:                                                             "conversation.stale is neither",
	} {
		b := newBench(t, gives(strings.Replace(good, change[0], change[1], 1)))
		contains(t, b.fails("subagent_receive", `{"subagent_id":"a"}`), want)
	}
	many := strings.Repeat(`{"request_id":"q1","operation":"message","state":"sent","run_id":null,"at":"t"},`, 21)
	contains(t, newBench(t, gives(talk(strings.TrimSuffix(many, ","), "", 0, 0))).fails("subagent_receive", `{"subagent_id":"a"}`), "requests has more than 20 entries")
	var steps []string
	for i := range 33 {
		steps = append(steps, step(i, ""))
	}
	b := newBench(t, gives(talk("", `{"index":0,"user":[],"steps":[`+strings.Join(steps, ",")+`]}`, 1, 1)))
	contains(t, b.fails("subagent_receive", `{"subagent_id":"a"}`), "steps has more than 32 entries")
	b = newBench(t, gives(talk("", `{"index":0,"user":[`+strings.TrimSuffix(strings.Repeat(part("")+",", 129), ",")+`],"steps":[]}`, 1, 1)))
	contains(t, b.fails("subagent_receive", `{"subagent_id":"a"}`), "user has more than 128 entries")
	// One turn that was too large to come is passed over.
	skipped := strings.Replace(talk("", "", 1, 3), `"truncated":false,"incomplete"`, `"truncated":true,"incomplete"`, 1)
	contains(t, newBench(t, gives(skipped)).ok("subagent_receive", `{"subagent_id":"a"}`), "[[next]]: 1\n")
	contains(t, newBench(t, gives(talk("", "", 1, 3))).fails("subagent_receive", `{"subagent_id":"a"}`), "next does not agree")
}

// The last answers are shown first, then older steps, then what was sent; short texts
// are whole and long ones share.
func TestTextsShareTheRoom(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("漢", 20000) // 60000 bytes
	turns := `{"index":0,"user":[` + part("question") + `],"steps":[` + step(0, "old and short") + `,` + step(1, long) + `]},` +
		`{"index":1,"user":[],"steps":[` + step(0, "short") + `,` + step(1, long) + `,` + step(2, "") + `]}`
	got := newBench(t, gives(talk("", turns, 2, 2))).ok("subagent_receive", `{"subagent_id":"a"}`)
	contains(t, got, "[[output_truncated]]: true",
		"assistant step 1 (text/text) (truncated, first 49152 bytes):",
		"assistant step 0 (text/text): (empty, truncated)",
		"assistant step 2 (text/text): (empty)",
		"user (text/text): (empty, truncated)")
	// With room left, the older ones come next.
	turns = `{"index":0,"user":[` + part(long) + `],"steps":[` + step(0, strings.Repeat("o", 30000)) + `,` + step(1, strings.Repeat("n", 60000)) + `]}`
	got = newBench(t, gives(talk("", turns, 1, 1))).ok("subagent_receive", `{"subagent_id":"a"}`)
	contains(t, got, "assistant step 1 (text/text) (60000 bytes):", "assistant step 0 (text/text) (30000 bytes):", "user (text/text) (truncated, first 8304 bytes):")
	// What came cut is said so, even where there is room.
	cut := strings.Replace(step(0, "beginn"), `"raw"`, `"truncated":true,"bytes":900,"raw"`, 1)
	got = newBench(t, gives(talk("", `{"index":0,"user":[],"steps":[`+cut+`]}`, 1, 1))).ok("subagent_receive", `{"subagent_id":"a"}`)
	contains(t, got, "[[output_truncated]]: true", "assistant step 0 (text/text) (truncated, first 6 bytes):\nbeginn\n")
}

// Fields alone may fill an answer; then a smaller page is asked for.
func TestOverBudget(t *testing.T) {
	t.Parallel()
	var turns []string
	for i := range 10 {
		parts := strings.TrimSuffix(strings.Repeat(part("")+",", 128), ",")
		steps := ""
		for s := range 5 {
			steps += fmt.Sprintf(`,{"index":%d,"content":[%s]}`, s, strings.TrimSuffix(strings.Repeat(part("")+",", 70), ","))
		}
		turns = append(turns, fmt.Sprintf(`{"index":%d,"user":[%s],"steps":[%s]}`, i, parts, steps[1:]))
	}
	b := newBench(t, gives(talk("", strings.Join(turns, ","), 10, 10)))
	message := b.fails("subagent_receive", `{"subagent_id":"a","limit":10}`)
	contains(t, message, "does not fit into 262144 bytes; ask with a smaller limit, or for answer pages")
}

func TestAnswerPage(t *testing.T) {
	t.Parallel()
	page := func(rest string) string {
		return child + `,"requests":[],"requests_truncated":false,"conversation":null,"answer":{"request_id":"q","source":` + source + `,"type":"text","modality":"text",` + rest + `}}`
	}
	const ask = `{"subagent_id":"a","answer":{"source":` + source + `,"part":1,"offset":10}}`
	b := newBench(t, gives(page(`"part":1,"offset":10,"raw":"héllo","bytes":16,"next_offset":16,"next_part":2,"total_parts":3,"done":false`)))
	want := `[[source]]: ` + source + `
[[part]]: 1
[[offset]]: 10
[[next_offset]]: 16
[[next_part]]: 2
[[bytes]]: 16
[[total_parts]]: 3
[[done]]: false
[[hint]]: the next page begins the next part: ask with part = next_part and offset 0

answer page (6 bytes):
héllo
`
	if got := b.ok("subagent_receive", ask); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := b.hub.seen(); !slices.Equal(got, []string{`subagent/receive {"answer":{"offset":10,"part":1,"source":` + source + `},"subagent_id":"a"}`}) {
		t.Errorf("calls %q", got)
	}
	whole := strings.Repeat("x", 32768)
	b = newBench(t, gives(page(`"part":1,"offset":10,"raw":"`+whole+`","bytes":99999,"next_offset":32778,"next_part":1,"total_parts":3,"done":false`)))
	contains(t, b.ok("subagent_receive", ask), "answer page (32768 bytes):\n"+whole, "offset = next_offset")
	for rest, want := range map[string]string{
		`"part":1,"offset":10,"raw":"` + whole + `x","bytes":99999,"next_offset":32779,"next_part":1,"total_parts":3,"done":false`: "raw is longer than 32768 bytes",
		`"part":0,"offset":10,"raw":"x","bytes":16,"next_offset":11,"next_part":0,"total_parts":3,"done":false`:                    "part is another one",
		`"part":1,"offset":9,"raw":"x","bytes":16,"next_offset":10,"next_part":1,"total_parts":3,"done":false`:                     "offset is another one",
		`"part":1,"offset":10,"raw":"x","bytes":16,"next_offset":12,"next_part":1,"total_parts":3,"done":false`:                    "next_offset does not agree",
		`"part":1,"offset":10,"raw":"x","bytes":10,"next_offset":11,"next_part":1,"total_parts":3,"done":false`:                    "next_offset does not agree",
		`"part":1,"offset":10,"raw":"x","bytes":16,"next_offset":11,"next_part":2,"total_parts":3,"done":false`:                    "next_part does not agree",
		`"part":1,"offset":10,"raw":"x","bytes":11,"next_offset":11,"next_part":2,"total_parts":1,"done":true`:                     "total_parts does not agree",
		`"part":1,"offset":10,"raw":"x","bytes":11,"next_offset":11,"next_part":2,"total_parts":2,"done":false`:                    "done does not agree",
		`"part":1,"offset":10,"raw":"","bytes":11,"next_offset":10,"next_part":1,"total_parts":2,"done":false`:                     "raw makes no progress",
	} {
		contains(t, newBench(t, gives(page(rest))).fails("subagent_receive", ask), want)
	}
	other := strings.Replace(page(`"part":1,"offset":10,"raw":"x","bytes":16,"next_offset":11,"next_part":1,"total_parts":3,"done":false`), `"turn":2`, `"turn":3`, 1)
	contains(t, newBench(t, gives(other)).fails("subagent_receive", ask), "source is another one")
}
