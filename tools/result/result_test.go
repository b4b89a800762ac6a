package result_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/state"
	"simplex/tools/result"
)

const poll = `[[timed_out]]: false
[[waited_milliseconds]]: 412
[[finished_count]]: 1
[[session_count]]: 2
[[retained_session_count]]: 2

---

[[session_id]]: proc_5d0c..._3
[[state]]: exited
[[exit_code]]: 2
[[description]]: make check
[[pid]]: 8812
[[running_milliseconds]]: 9034
[[output_complete]]: true

new_stdout (18 bytes):
1 test of 9 failed

new_stderr: (empty)

---

[[session_id]]: proc_5d0c..._4
[[state]]: running
[[working_directory]]: /srv/app
[[pid]]: 8840
[[running_milliseconds]]: 5120

new_stdout (truncated, first 7 bytes):
serving

new_stderr: (empty)
`

func TestPollOverTwoSessions(t *testing.T) {
	t.Parallel()
	var text result.Text
	head := text.Record()
	head.Bool("timed_out", false)
	head.Int("waited_milliseconds", 412)
	head.Int("finished_count", 1)
	head.Int("session_count", 2)
	head.Int("retained_session_count", 2)
	head.Strings("released", nil)

	done := text.Record()
	done.String("session_id", "proc_5d0c..._3")
	done.String("state", "exited")
	done.Int("exit_code", 2)
	done.String("description", "make check")
	done.String("working_directory", "")
	done.Int("pid", 8812)
	done.Int("running_milliseconds", 9034)
	done.Block("new_stdout", "1 test of 9 failed")
	done.Block("new_stderr", "")
	done.Bool("output_complete", true) // fields come first, whenever they are added

	live := text.Record()
	live.String("session_id", "proc_5d0c..._4")
	live.String("state", "running")
	live.String("working_directory", "/srv/app")
	live.Int("pid", 8840)
	live.Int("running_milliseconds", 5120)
	live.CutBlock("new_stdout", "serving")
	live.Block("new_stderr", "")

	if diff := cmp.Diff(poll, text.String()); diff != "" {
		t.Error(diff)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  func(*result.Record)
		want string
	}{
		"empty string left out": {func(r *result.Record) { r.String("f", "") }, ""},
		"plain string":          {func(r *result.Record) { r.String("f", `a "b" \ é`) }, "[[f]]: a \"b\" \\ é\n"},
		"line feed quoted":      {func(r *result.Record) { r.String("f", "a\n\"b\"") }, "[[f]]: \"a\\n\\\"b\\\"\"\n"},
		"delete quoted":         {func(r *result.Record) { r.String("f", "a\x7f") }, "[[f]]: \"a\x7f\"\n"},
		"bad utf-8":             {func(r *result.Record) { r.String("f", "a\xff") }, "[[f]]: a\uFFFD\n"},
		"zero":                  {func(r *result.Record) { r.Int("f", 0) }, "[[f]]: 0\n"},
		"false":                 {func(r *result.Record) { r.Bool("f", false) }, "[[f]]: false\n"},
		"empty list left out":   {func(r *result.Record) { r.Strings("f", []string{}) }, ""},
		"list":                  {func(r *result.Record) { r.Strings("f", []string{"a", "b\n"}) }, "[[f]]: [\"a\",\"b\\n\"]\n"},
		"null left out":         {func(r *result.Record) { r.Value("f", value(t, "null")) }, ""},
		"unset left out":        {func(r *result.Record) { r.Value("f", state.Value{}) }, ""},
		"empty object left out": {func(r *result.Record) { r.Value("f", value(t, "{}")) }, ""},
		"empty array left out":  {func(r *result.Record) { r.Value("f", value(t, "[ ]")) }, ""},
		"object compact":        {func(r *result.Record) { r.Value("f", value(t, `{"b": 1, "a": [ ]}`)) }, "[[f]]: {\"a\":[],\"b\":1}\n"},
		"string value":          {func(r *result.Record) { r.Value("f", value(t, `"x"`)) }, "[[f]]: x\n"},
		"literal null":          {func(r *result.Record) { r.Literal("f", "null") }, "[[f]]: null\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text result.Text
			c.add(text.Record())
			if got := text.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  func(*result.Record)
		want string
	}{
		"whole":            {func(r *result.Record) { r.Block("b", "x\n") }, "b (2 bytes):\nx\n"},
		"newline added":    {func(r *result.Record) { r.Block("b", "x") }, "b (1 bytes):\nx\n"},
		"cut":              {func(r *result.Record) { r.CutBlock("b", "é") }, "b (truncated, first 2 bytes):\né\n"},
		"empty":            {func(r *result.Record) { r.Block("b", "") }, "b: (empty)\n"},
		"empty, cut":       {func(r *result.Record) { r.CutBlock("b", "") }, "b: (empty, truncated)\n"},
		"tail":             {func(r *result.Record) { r.TailBlock("b_tail", "xyz") }, "b_tail (last 3 bytes):\nxyz\n"},
		"no tail":          {func(r *result.Record) { r.TailBlock("b_tail", "") }, ""},
		"body is verbatim": {func(r *result.Record) { r.Block("b", "[[state]]: exited\n---\n") }, "b (22 bytes):\n[[state]]: exited\n---\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text result.Text
			c.add(text.Record())
			if got := text.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEmptyRecordsMakeNoSeparator(t *testing.T) {
	t.Parallel()
	var text result.Text
	text.Record()
	text.Record().Int("a", 1)
	text.Record()
	text.Record()
	text.Record().Int("b", 2)
	text.Record()
	if got, want := text.String(), "[[a]]: 1\n\n---\n\n[[b]]: 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever goes in, the content can be stored, and a block's body can be cut out
// again by the number in its header.
func FuzzContent(f *testing.F) {
	f.Add("name", "a\nb", "body\xffx")
	f.Add("", "\x00", "\n---\n\n")
	f.Fuzz(func(t *testing.T, name, value, body string) {
		var text result.Text
		r := text.Record()
		r.String("f", value)
		r.Strings("l", []string{name, value})
		r.Block("b", body)
		c := text.Content()
		if !utf8.ValidString(c.Raw) {
			t.Fatalf("not UTF-8: %q", c.Raw)
		}
		if body != "" && !strings.HasSuffix(c.Raw, "\n") {
			t.Fatalf("no line end: %q", c.Raw)
		}
	})
}

func TestFieldsStayLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringN(1, 20, -1), 0, 6).Draw(t, "values")
		var text result.Text
		r := text.Record()
		for _, v := range values {
			r.String("f", v)
		}
		if got := strings.Count(text.String(), "\n"); got != len(values) {
			t.Fatalf("%d lines for %d fields: %q", got, len(values), text.String())
		}
	})
}

func value(t *testing.T, raw string) state.Value {
	t.Helper()
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
