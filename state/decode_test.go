package state

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

const emptyDoc = `{"meta":{},"system_prompt":{},"tools":[],"turns":[]}`

// doc puts fragments into a minimal document: "meta=…", "prompt=…", "tools=…", "turns=…",
// or "+…" for further members.
func doc(part string) string {
	meta, prompt, tools, turns, more := "{}", "{}", "[]", "[]", ""
	key, val, _ := strings.Cut(part, "=")
	switch {
	case strings.HasPrefix(part, "+"):
		more = "," + part[1:]
	case key == "meta":
		meta = val
	case key == "prompt":
		prompt = val
	case key == "tools":
		tools = val
	case key == "turns":
		turns = val
	}
	return `{"meta":` + meta + `,"system_prompt":` + prompt + `,"tools":` + tools + `,"turns":` + turns + more + `}`
}

func inUser(member string) string { return doc(`turns=[{"user_input":{` + member + `}}]`) }

func inStep(member string) string { return doc(`turns=[{"agent_loop_step":[{` + member + `}]}]`) }

func inLoop(member string) string {
	return doc(`+"loop":{"status":"idle","phase":"ready","completed_exchanges":0,"error":"","pending_results":[],` + member + `}`)
}

const (
	userPath = "/turns/0/user_input"
	stepPath = "/turns/0/agent_loop_step/0"
	goodCall = `{"id":"c","name":"n"}`
)

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, path, problem string }{
		{"nothing", ``, "", "unexpected end"},
		{"only blanks", " \n", "", "unexpected end"},
		{"root array", `[]`, "", "must be an object"},
		{"root null", `null`, "", "must be an object"},
		{"text after", emptyDoc + `x`, "", "text after"},
		{"second document", emptyDoc + emptyDoc, "", "text after"},
		{"NUL after", emptyDoc + "\x00", "", "text after"},
		{"line comment", "// c\n" + emptyDoc, "", "invalid character"},
		{"comment inside", `{"meta":{/* c */}}`, "/meta", "invalid character"},
		{"trailing comma in object", `{"meta":{},}`, "", "member name"},
		{"trailing comma in array", doc(`tools=[{},]`), "/tools/1", "invalid character"},
		{"missing comma", `{"meta":{} "turns":[]}`, "", ", or }"},
		{"missing comma in array", doc(`tools=[{}{}]`), "/tools", ""},
		{"missing colon", `{"meta"{}}`, "", "where :"},
		{"unquoted key", `{meta:{}}`, "", "member name"},
		{"single quotes", `{'meta':{}}`, "", "member name"},
		{"cut in string", `{"meta":{"session_id":"ab`, "/meta/session_id", "unexpected end"},
		{"cut in escape", `{"meta":{"session_id":"ab\`, "/meta/session_id", "unexpected end"},
		{"cut in object", `{"meta":{`, "/meta", "unexpected end"},
		{"cut in free value", doc(`+"extras":{"a":[1`)[:68], "/extras/a", "unexpected end"},
		{"BOM twice", "\ufeff\ufeff" + emptyDoc, "", "invalid character"},
		{"duplicate at root", doc(`+"meta":{}`), "/meta", "duplicate"},
		{"duplicate typed", doc(`meta={"session_id":"a","session_id":"a"}`), "/meta/session_id", "duplicate"},
		{"duplicate by escape", doc(`meta={"session_id":"a","session_i\u0064":"a"}`), "/meta/session_id", "duplicate"},
		{"duplicate unknown", doc(`meta={"x":1,"y":2,"x":1}`), "/meta/x", "duplicate"},
		{"duplicate in extras", doc(`+"extras":{"a":{"k":1,"b":2,"k":3}}`), "/extras/a/k", "duplicate"},
		{"duplicate neighbours", doc(`+"extras":{"k":1,"k":3}`), "/extras/k", "duplicate"},
		{"duplicate null", inUser(`"extras":null,"extras":null`), userPath + "/extras", "duplicate"},
		{"no meta", `{"system_prompt":{},"tools":[],"turns":[]}`, "/meta", "missing"},
		{"no prompt", `{"meta":{},"tools":[],"turns":[]}`, "/system_prompt", "missing"},
		{"no tools", `{"meta":{},"system_prompt":{},"turns":[]}`, "/tools", "missing"},
		{"no turns", `{"meta":{},"system_prompt":{},"tools":[]}`, "/turns", "missing"},
		{"meta null", doc(`meta=null`), "/meta", "must be an object"},
		{"meta array", doc(`meta=[]`), "/meta", "must be an object"},
		{"prompt null", doc(`prompt=null`), "/system_prompt", "must be an object"},
		{"tools null", doc(`tools=null`), "/tools", "must be an array"},
		{"tools object", doc(`tools={}`), "/tools", "must be an array"},
		{"turns null", doc(`turns=null`), "/turns", "must be an array"},
		{"version float", doc(`meta={"schema_version":1.0}`), "/meta/schema_version", "integer"},
		{"version exponent", doc(`meta={"schema_version":1e0}`), "/meta/schema_version", "integer"},
		{"version negative", doc(`meta={"schema_version":-1}`), "/meta/schema_version", "negative"},
		{"version minus zero", doc(`meta={"schema_version":-0}`), "/meta/schema_version", "negative"},
		{"version too large", doc(`meta={"schema_version":4294967296}`), "/meta/schema_version", "range"},
		{"version string", doc(`meta={"schema_version":"1"}`), "/meta/schema_version", "integer"},
		{"version null", doc(`meta={"schema_version":null}`), "/meta/schema_version", "integer"},
		{"session id null", doc(`meta={"session_id":null}`), "/meta/session_id", "string"},
		{"session id number", doc(`meta={"session_id":7}`), "/meta/session_id", "string"},
		{"meta error string", doc(`meta={"error":"x"}`), "/meta/error", "object"},
		{"heading level string", doc(`prompt={"heading_level":"2"}`), "/system_prompt/heading_level", "integer"},
		{"heading level float", doc(`prompt={"heading_level":2.0}`), "/system_prompt/heading_level", "integer"},
		{"heading level huge", doc(`prompt={"heading_level":2147483648}`), "/system_prompt/heading_level", "range"},
		{"sections object", doc(`prompt={"sections":{}}`), "/system_prompt/sections", "array"},
		{"section null", doc(`prompt={"sections":[null]}`), "/system_prompt/sections/0", "object"},
		{"section text null", doc(`prompt={"sections":[{"text":null}]}`), "/system_prompt/sections/0/text", "string"},
		{"section twice", doc(`prompt={"sections":[{"name":"a"},{"name":"a"}]}`), "/system_prompt/sections/1", "duplicate"},
		{"section order", doc(`prompt={"sections":[{"name":"a","stability":"growing"},{"name":"b"}]}`), "/system_prompt/sections/1", "stability"},
		{"tool string", doc(`tools=["x"]`), "/tools/0", "object"},
		{"schema array", doc(`tools=[{"argument_schema":[]}]`), "/tools/0/argument_schema", "object"},
		{"schema null", doc(`tools=[{"argument_schema":null}]`), "/tools/0/argument_schema", "object"},
		{"remote type number", doc(`tools=[{"remote_type":1}]`), "/tools/0/remote_type", "string"},
		{"turn null", doc(`turns=[{},null]`), "/turns/1", "object"},
		{"user input null", doc(`turns=[{"user_input":null}]`), userPath, "object"},
		{"user input array", doc(`turns=[{"user_input":[]}]`), userPath, "object"},
		{"steps null", doc(`turns=[{"agent_loop_step":null}]`), "/turns/0/agent_loop_step", "array"},
		{"step number", doc(`turns=[{"agent_loop_step":[1]}]`), stepPath, "object"},
		{"response null", inStep(`"model_response":null`), stepPath + "/model_response", "object"},
		{"returns object", inStep(`"invoke_returns":{}`), stepPath + "/invoke_returns", "array"},
		{"return null", inStep(`"invoke_returns":[null]`), stepPath + "/invoke_returns/0", "object"},
		{"sequence too large", inStep(`"commit_sequence":18446744073709551616`), stepPath + "/commit_sequence", "range"},
		{"sequence far too large", inStep(`"commit_sequence":99999999999999999999999`), stepPath + "/commit_sequence", "range"},
		{"sequence null", inStep(`"commit_sequence":null`), stepPath + "/commit_sequence", "integer"},
		{"extras array", inStep(`"extras":[]`), stepPath + "/extras", "object"},
		{"role null", inUser(`"role":null`), userPath + "/role", "string"},
		{"content string", inUser(`"content":"hi"`), userPath + "/content", "object or an array"},
		{"part string", inUser(`"content":[{},"hi"]`), userPath + "/content/1", "object"},
		{"raw null", inUser(`"content":[{"raw":null}]`), userPath + "/content/0/raw", "string"},
		{"raw in single part", inUser(`"content":{"raw":1}`), userPath + "/content/raw", "string"},
		{"modality unknown", inUser(`"content":[{"modality":"smell"}]`), userPath + "/content/0/modality", "unknown value"},
		{"modality null", inUser(`"content":[{"modality":null}]`), userPath + "/content/0/modality", "string"},
		{"binary unlabelled", inUser(`"content":[{"type":"binary"}]`), userPath + "/content/0/modality", "missing"},
		{"file unlabelled", inUser(`"content":[{"type":"external_ref","extras":{"type":"input_file"}}]`), userPath + "/content/0/modality", "ambiguous"},
		{"reasoning array", inUser(`"reasoning":[]`), userPath + "/reasoning", "object"},
		{"action status string", inUser(`"action_status":"x"`), userPath + "/action_status", "object"},
		{"cost array", inUser(`"cost":[]`), userPath + "/cost", "object"},
		{"cost float", inUser(`"cost":{"prompt":1.5}`), userPath + "/cost/prompt", "integer"},
		{"cost bool", inUser(`"cost":{"cache_hit":true}`), userPath + "/cost/cache_hit", "integer"},
		{"invokes object", inUser(`"invokes":{}`), userPath + "/invokes", "array"},
		{"invoke null", inUser(`"invokes":[null]`), userPath + "/invokes/0", "object"},
		{"call id number", inUser(`"invokes":[{"id":1}]`), userPath + "/invokes/0/id", "string"},
		{"result array", inUser(`"invoke_return":[]`), userPath + "/invoke_return", "object"},
		{"query null", inUser(`"invoke_return":{"query":null,"output":{}}`), userPath + "/invoke_return/query", "object"},
		{"query absent", inUser(`"invoke_return":{"output":{}}`), userPath + "/invoke_return/query", "missing"},
		{"output null", inUser(`"invoke_return":{"query":{},"output":null}`), userPath + "/invoke_return/output", "object"},
		{"output absent", inUser(`"invoke_return":{"query":{}}`), userPath + "/invoke_return/output", "missing"},
		{"loop array", doc(`+"loop":[]`), "/loop", "object"},
		{"loop empty", doc(`+"loop":{}`), "/loop/status", "missing"},
		{"loop without error", doc(`+"loop":{"status":"idle","phase":"ready","completed_exchanges":0,"pending_results":[]}`), "/loop/error", "missing"},
		{"loop status unknown", doc(`+"loop":{"status":"busy"}`), "/loop/status", "unknown value"},
		{"loop phase unknown", doc(`+"loop":{"phase":""}`), "/loop/phase", "unknown value"},
		{"loop phase null", doc(`+"loop":{"phase":null}`), "/loop/phase", "string"},
		{"pending null", doc(`+"loop":{"pending_results":null}`), "/loop/pending_results", "array"},
		{"pending shape", doc(`+"loop":{"pending_results":[{"query":` + goodCall + `}]}`), "/loop/pending_results/0/output", "missing"},
		{"sequence string", inLoop(`"committed_response_sequence":"1"`), "/loop/committed_response_sequence", "integer"},
		{"invalid UTF-8", doc("meta={\"session_id\":\"a\xffb\"}"), "/meta/session_id", "UTF-8"},
		{"invalid UTF-8 with escape", doc("meta={\"session_id\":\"\\n\xc3\"}"), "/meta/session_id", "UTF-8"},
		{"surrogate as UTF-8", doc("+\"extras\":{\"a\":\"\xed\xa0\x80\"}"), "/extras/a", "UTF-8"},
		{"invalid UTF-8 in a key", doc("+\"extras\":{\"\xff\":1}"), "/extras", "UTF-8"},
		{"lone surrogate", doc(`meta={"session_id":"\ud83d"}`), "/meta/session_id", "surrogate"},
		{"low surrogate", doc(`meta={"session_id":"\ude00"}`), "/meta/session_id", "surrogate"},
		{"bad escape", doc(`meta={"session_id":"\x"}`), "/meta/session_id", "escape"},
		{"bad hex", doc(`meta={"session_id":"\u00g0"}`), "/meta/session_id", "escape"},
		{"raw newline", doc("meta={\"session_id\":\"a\nb\"}"), "/meta/session_id", "control character"},
		{"leading zero", doc(`+"extras":{"n":01}`), "/extras/n", "number"},
		{"plus", doc(`+"extras":{"n":+1}`), "/extras/n", "invalid character"},
		{"bare point", doc(`+"extras":{"n":1.}`), "/extras/n", "number"},
		{"no whole part", doc(`+"extras":{"n":.5}`), "/extras/n", "invalid character"},
		{"bare exponent", doc(`+"extras":{"n":1e+}`), "/extras/n", "number"},
		{"minus only", doc(`+"extras":{"n":-}`), "/extras/n", "number"},
		{"NaN", doc(`+"extras":{"n":NaN}`), "/extras/n", "invalid character"},
		{"word", doc(`+"extras":{"n":nul}`), "/extras/n", "literal"},
		{"path is escaped", doc(`+"extras":{"a/b~c":{"k":1,"k":1}}`), "/extras/a~1b~0c/k", "duplicate"},
		{"too deep", doc(`+"extras":{"a":` + strings.Repeat("[", 100000) + `}`), "/extras/a/", "deep"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, err := Decode([]byte(c.text))
			var bad *DecodeError
			if !errors.As(err, &bad) || st != nil {
				t.Fatalf("got %v, %v; want a DecodeError", st, err)
			}
			if strings.HasSuffix(c.path, "/") {
				if !strings.HasPrefix(bad.Path, c.path) {
					t.Errorf("path %.80q does not begin with %q", bad.Path, c.path)
				}
			} else if bad.Path != c.path {
				t.Errorf("path %q, want %q (%v)", bad.Path, c.path, err)
			}
			if !strings.Contains(bad.Problem, c.problem) {
				t.Errorf("problem %q does not tell of %q", bad.Problem, c.problem)
			}
		})
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		check      func(*State) bool
	}{
		{"BOM", "\ufeff" + emptyDoc, func(*State) bool { return true }},
		{"BOM and blanks around", "\ufeff\r\n\t " + emptyDoc + " \n", func(*State) bool { return true }},
		{"defaults", emptyDoc, func(s *State) bool {
			return s.Meta.SchemaVersion == 1 && s.Meta.Status == SessionActive && s.SystemPrompt.HeadingLevel == 2 && s.Loop == nil
		}},
		{"extras null", doc(`+"extras":null`), func(s *State) bool { return !s.Extras.IsSet() }},
		{"extras empty", doc(`+"extras":{}`), func(s *State) bool { return s.Extras.String() == "{}" }},
		{"loop null", doc(`+"loop":null`), func(s *State) bool { return s.Loop == nil }},
		{"sequence absent", inLoop(`"x":1`), func(s *State) bool { return s.Loop.CommittedSequence == 0 }},
		{"enum of another type", doc(`meta={"status":[{"a":1}]}`), func(s *State) bool { return s.Meta.Status == SessionActive }},
		{"enum unknown", inUser(`"invokes":[{"type":"x","security":null}]`), func(s *State) bool {
			c := s.Turns[0].UserInput.Calls[0]
			return c.Type == ReadOnly && c.Security == DefaultDeny && c.Arguments.String() == "{}"
		}},
		{"arguments null", inUser(`"invokes":[{"arguments":null}]`), func(s *State) bool {
			return s.Turns[0].UserInput.Calls[0].Arguments.String() == "null"
		}},
		{"invokes empty", inUser(`"invokes":[]`), func(s *State) bool { return s.Turns[0].UserInput.CallsSet }},
		{"invokes null", inUser(`"invokes":null`), func(s *State) bool { return !s.Turns[0].UserInput.CallsSet }},
		{"largest counter", inStep(`"commit_sequence":18446744073709551615`), func(s *State) bool {
			return s.LastStep().CommitSequence == 1<<64-1
		}},
		{"heading level negative", doc(`prompt={"heading_level":-3}`), func(s *State) bool { return s.SystemPrompt.HeadingLevel == -3 }},
		{"step without response", inStep(``), func(s *State) bool { return s.LastStep().ModelResponse.Type == ModelResponse }},
		{"section text becomes canonical", doc(`prompt={"sections":[{"text":"\n a \t\r\n\n"}]}`), func(s *State) bool {
			return s.SystemPrompt.Sections[0].Text == " a"
		}},
		{"escapes", doc(`meta={"session_id":"\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\uDE00"}`), func(s *State) bool {
			return s.Meta.SessionID == "\"\\/\b\f\n\r\t\x00é😀"
		}},
		{"deep but allowed", doc(`+"extras":{"a":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}`), func(*State) bool { return true }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, err := Decode([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(st) {
				t.Errorf("read as %s", encoded(t, st))
			}
		})
	}
}

// A state file that was cut anywhere is never taken for a whole one (BR-023).
func TestEveryCutIsRefused(t *testing.T) {
	t.Parallel()
	raw := bytes.TrimRight(readFile(t, "full.json"), "\n")
	for n := range raw {
		if _, err := Decode(raw[:n]); err == nil {
			t.Fatalf("the first %d bytes of %d were accepted", n, len(raw))
		}
	}
}
