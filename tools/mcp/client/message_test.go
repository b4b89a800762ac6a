package client

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"
)

// told words what a line was taken for.
func told(line string) (string, error) {
	var out []string
	for m, err := range messages([]byte(line)) {
		switch {
		case err != nil:
			return strings.Join(out, " "), err
		case m.wantsAnswer():
			out = append(out, "request "+string(m.id)+" "+m.method)
		case m.called:
			out = append(out, "notification "+m.method)
		case m.err != nil:
			out = append(out, "refusal "+string(m.id)+" "+m.err.Error())
		default:
			out = append(out, "answer "+string(m.id)+" "+string(m.result))
		}
	}
	return strings.Join(out, " "), nil
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"a":[1.50]}}`, `answer 1 {"a":[1.50]}`},
		{` {"id" : 7.0 , "result" : null , "jsonrpc" : "2.0"} ` + "\r\n", `answer 7.0 null`},
		{`{"jsonrpc":"2.0","id":1,"method":null,"error":null,"result":{}}`, `answer 1 {}`},
		{`{"jsonrpc":"2.0","id":1,"result":{},"more":{"id":2}}`, `answer 1 {}`},
		{`{"jsonrpc":"2.0","id":1}`, `answer 1 `},
		{`{"jsonrpc":"2.0","id":1,"result":1,"result":2}`, `answer 1 2`},
		{`{"jsonrpc":"2.0","\u0069d":1,"result":"\ud800"}`, `answer 1 "\ud800"`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601.0,"message":"no","data":{}},"result":{}}`, `refusal 1 the server refuses: no (code -32601)`},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot read"}}`, `refusal  the server refuses: cannot read (code -32700)`},
		{`{"jsonrpc":"2.0","error":{"code":1e300,"message":"x\u0007"}}`, "refusal  the server refuses: x\uFFFD (code 0)"},
		{`{"jsonrpc":"2.0","id":1,"error":{}}`, `refusal 1 the server refuses:  (code 0)`},
		{`{"jsonrpc":"2.0","id":"a\"b","method":"ping"}`, `request "a\"b" ping`},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "request \"\uFFFD\" ping"},
		{`{"jsonrpc":"2.0","id":12345678901234567890,"method":""}`, `request 12345678901234567890 `},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `notification ping`},
		{`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`, `notification notifications/message`},
		{`[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":"p","method":"ping"}]`, `answer 1 1 request "p" ping`},
	} {
		if got, err := told(c.line); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.line, got, err, c.want)
		}
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, before string }{
		{line: `Welcome to the server!`},
		{line: `"text"`},
		{line: `null`},
		{line: `{}`},
		{line: `{"jsonrpc":"1.0","id":1,"result":{}}`},
		{line: `{"jsonrpc":2.0,"id":1,"result":{}}`},
		{line: `{"JSONRPC":"2.0","id":1,"result":{}}`},
		{line: `{"jsonrpc":"2.0","result":{}}`},
		{line: `{"jsonrpc":"2.0","id":true,"result":{}}`},
		{line: `{"jsonrpc":"2.0","id":[1],"method":"ping"}`},
		{line: `{"jsonrpc":"2.0","id":1,"method":5}`},
		{line: `{"jsonrpc":"2.0","id":1,"error":"no"}`},
		{line: `{"jsonrpc":"2.0","id":1,"result":{}`},
		{line: `{"jsonrpc":"2.0","id":1,"result":{}}}`},
		{line: `{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":2,"result":{}}`},
		{line: `{"jsonrpc":"2.0","id":1,"result":01}`},
		{line: "\uFEFF" + `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{line: `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`},
		{line: `[]`},
		{line: `[[]]`},
		{line: `[{"jsonrpc":"2.0","id":1,"result":{}},5]`, before: `answer 1 {}`},
		{line: `[{"jsonrpc":"2.0","id":1,"result":{}}`, before: `answer 1 {}`},
		{line: `[{"jsonrpc":"2.0","id":1,"result":{}}]]`, before: `answer 1 {}`},
	} {
		if got, err := told(c.line); !errors.Is(err, ErrProtocol) || got != c.before {
			t.Errorf("%.80s: %q, %v", c.line, got, err)
		}
	}
}

func TestNumbersOfAnswers(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int64{
		`7`: 7, `7.0`: 7, `70e-1`: 7, `"7"`: 0, `7.5`: 0, `1e300`: 0, `-1`: -1, ``: 0, `9007199254740993`: 9007199254740993,
	} {
		m := message{id: jsontext.Value(raw)}
		if got := m.number(); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{string(request(3, methodCallTool, []byte(`{"b":1,"a":2}`))), `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"b":1,"a":2}}` + "\n"},
		{string(notification(methodInitialized, nil)), `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"},
		{string(cancelled(4, "no \"time\"")), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"no \"time\""}}` + "\n"},
		{string(answers([][]byte{answer(jsontext.Value(`"x"`), "ping")}, false)), `{"jsonrpc":"2.0","id":"x","result":{}}` + "\n"},
		{
			string(answers([][]byte{answer(jsontext.Value(`1`), "ping"), answer(jsontext.Value(`2`), "roots/list")}, true)),
			`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"this client does not offer the method"}}]` + "\n",
		},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100<<10)
	r := newLineReader(strings.NewReader("a\n\n \r\n"+long+"\nb"), len(long))
	for _, want := range []string{"a\n", long + "\n"} {
		if line, err := r.next(); err != nil || string(line) != want {
			t.Errorf("%.20q, %v, want %.20q", line, err, want)
		}
	}
	if line, err := r.next(); err == nil || string(line) != "b" {
		t.Errorf("the last: %q, %v", line, err)
	}
	for _, more := range []string{"x\n", "x", strings.Repeat("x", 1<<20)} {
		r := newLineReader(strings.NewReader(long+more), len(long))
		if line, err := r.next(); !errors.Is(err, ErrProtocol) || line != nil {
			t.Errorf("%.20q, %v", line, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}`,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`,
		`[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","method":"x","params":[]}]`,
		"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\\ud800\",\"method\":\"ping\",\"method\":null}", `[]`, `x`, "{\"jsonrpc\":\"2.0\",\n\"id\":1e2}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		failed := false
		for m, err := range messages(line) {
			if failed {
				t.Fatal("something comes after the failure")
			}
			if err != nil {
				failed = true
				if !errors.Is(err, ErrProtocol) {
					t.Fatalf("%v", err)
				}
				continue
			}
			checkMessage(t, m)
		}
		if !bytes.Equal(before, line) {
			t.Fatal("the line was written to")
		}
	})
}

func checkMessage(t *testing.T, m message) {
	if m.wantsAnswer() {
		back := answers([][]byte{answer(m.id, m.method)}, true)
		if !jsontext.Value(back).IsValid() || bytes.Count(back, []byte("\n")) != 1 {
			t.Fatalf("the answer is %q", back)
		}
	}
	if m.result == nil {
		return
	}
	if !m.result.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		t.Fatalf("the result is %q", m.result)
	}
	_ = unmarshal(m.result, &Result{})
}
