package state

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustValue(t testing.TB, text string) Value {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func mustObject(t testing.TB, text string) Object {
	t.Helper()
	o, err := mustValue(t, text).Object()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestValueForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{` { "b" : 1.10, "a" : [ 9007199254740993 , -0, 1E400 ] } `, `{"a":[9007199254740993,-0,1E400],"b":1.10}`},
		{`{"b":1,"B":2,"":3,"é":4,"\u007f":5}`, `{"":3,"B":2,"b":1,"` + "\x7f" + `":5,"é":4}`},
		{`{"\n":1,"[":2,"A":3,"\\":4,"\"":5}`, `{"\n":1,"\"":5,"A":3,"[":2,"\\":4}`},
		{`"\u2028\/\u003c\b\f\u000b\ud83d\ude00"`, "\"\u2028/<\\b\\f\\u000b😀\""},
		{`[]`, `[]`},
		{"\t{}\r\n", `{}`},
		{`[[],{},[{}]]`, `[[],{},[{}]]`},
		{`null`, `null`},
		{`{"b":{"d":1,"c":{"z":0,"a":[{"y":1,"x":2}]}},"a":0}`, `{"a":0,"b":{"c":{"a":[{"x":2,"y":1}],"z":0},"d":1}}`},
	} {
		if got := mustValue(t, c.in).String(); got != c.want {
			t.Errorf("%s became %s, want %s", c.in, got, c.want)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `{`, `}`, `[1,]`, `{"a":1,"a":1}`, `{"b":1,"a":2,"b":3}`, `1 2`, `"\ud800"`, "\"\xff\"", `tru`, `truex`, `00`, `-`, `1.e3`, "\"\t\"",
		strings.Repeat("[", maxInputDepth+1) + strings.Repeat("]", maxInputDepth+1),
	} {
		if v, err := ParseValue([]byte(text)); err == nil {
			t.Errorf("%.40q was read as %s", text, v)
		}
	}
	if _, err := ParseObject([]byte(`[]`)); !errors.Is(err, ErrNotObject) {
		t.Errorf("array as object: %v", err)
	}
	depth := strings.Repeat("[", maxInputDepth) + strings.Repeat("]", maxInputDepth)
	if mustValue(t, depth).String() != depth {
		t.Error("the deepest value was not kept")
	}
}

func TestObjectEdits(t *testing.T) {
	t.Parallel()
	o := mustObject(t, `{"b":{"x":[1,"}"]},"a\"":"t\\","c":null}`)
	if got, ok := o.Get("b"); !ok || got.String() != `{"x":[1,"}"]}` {
		t.Errorf("b: %s", got)
	}
	if got, ok := o.Get(`a"`); !ok {
		t.Error("escaped name")
	} else if text, ok := got.Text(); !ok || text != `t\` {
		t.Errorf("text: %q", text)
	}
	if _, ok := o.Get("x"); ok {
		t.Error("x is not a member of the object itself")
	}
	if got := o.With("b", UintValue(7)).Without("c").With("0", Value{}).String(); got != `{"0":null,"a\"":"t\\","b":7}` {
		t.Errorf("edited: %s", got)
	}
	if got := (Object{}).With("k", BoolValue(false)).String(); got != `{"k":false}` {
		t.Errorf("unset with: %s", got)
	}
	if (Object{}).Without("k").IsSet() || (Object{}).Len() != 0 || o.Len() != 3 {
		t.Error("unset and Len")
	}
	if got := ObjectFrom([]Member{{"b", UintValue(1)}, {"a", UintValue(2)}, {"b", UintValue(3)}}).String(); got != `{"a":2,"b":3}` {
		t.Errorf("later member wins: %s", got)
	}
	items, ok := mustValue(t, `[1,"a,]",[2,3],{}]`).Items()
	if !ok || len(items) != 4 || items[1].String() != `"a,]"` || items[2].String() != `[2,3]` {
		t.Errorf("items: %v", items)
	}
	if items, ok := mustValue(t, `[]`).Items(); !ok || len(items) != 0 {
		t.Errorf("no items: %v", items)
	}
}

// Members of any object, put together again, are the object.
func TestMembersAreTheObject(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o, err := ObjectOf(genObject(4).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		if got := ObjectFrom(o.Members()); got != o {
			t.Fatalf("%s became %s", o, got)
		}
		for _, m := range o.Members() {
			if got, ok := o.Get(m.Name); !ok || got != m.Value {
				t.Fatalf("member %q: %s", m.Name, got)
			}
			if _, err := ParseValue(m.Value.Bytes()); err != nil {
				t.Fatalf("member %q: %v", m.Name, err)
			}
		}
	})
}

func TestFloatValue(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2: "-2.0", 0.9981875: "0.9981875", 0.25: "0.25", 1e20: "1e+20", 123456789: "123456789.0",
		1e-5: "1e-05", 0.0001: "0.0001", 1e15: "1e+15", 999999999999999: "999999999999999.0",
	} {
		if got, err := FloatValue(f); err != nil || got.String() != want {
			t.Errorf("%g: %s, %v; want %s", f, got, err, want)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := FloatValue(f); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%g: %v", f, err)
		}
	}
}

func TestStringValueIsAlwaysJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "valid") {
			s = genText().Draw(t, "text")
		}
		v := StringValue(s)
		want, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
		if err != nil || v.String() != string(want) {
			t.Fatalf("%q became %s, want %s", s, v, want)
		}
		if text, ok := v.Text(); !ok || text != strings.ToValidUTF8(s, "\uFFFD") {
			t.Fatalf("%q came back as %q", s, text)
		}
	})
}

func TestValuesInsideGoValues(t *testing.T) {
	t.Parallel()
	var in struct {
		A Value  `json:"a"`
		B Object `json:"b"`
		C Object `json:"c"`
	}
	if err := json.Unmarshal([]byte(`{"a": {"y":1, "x":1.0}, "b":{"k":[ ]}, "c":null}`), &in); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(in)
	if err != nil || string(out) != `{"a":{"x":1.0,"y":1},"b":{"k":[]},"c":null}` {
		t.Errorf("%s, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"b":[]}`), &in); !errors.Is(err, ErrNotObject) {
		t.Errorf("array as object: %v", err)
	}
}

// The eight-at-once search agrees with the plain one at every offset.
func TestFirstSpecial(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.SampledFrom([]byte{'a', 0x1f, 0x20, '"', '!', '#', '\\', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff, 0, 1})).Draw(t, "bytes")
		for i := range len(b) + 1 {
			n, high := firstSpecial(b, i)
			want := bytes.IndexFunc(b[i:], func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
			if want < 0 {
				want = len(b) - i
			}
			ascii := !bytes.ContainsFunc(b[i:i+want], func(r rune) bool { return r >= 0x80 })
			if n != i+want || !high && !ascii {
				t.Fatalf("%x from %d: %d, %v; want %d", b, i, n, high, i+want)
			}
		}
	})
}

func TestValueKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]jsontext.Kind{
		`null`: 'n', `true`: 't', `false`: 'f', `"x"`: '"', `-1`: '0', `7`: '0', `{}`: '{', `[]`: '[',
	} {
		if got := mustValue(t, text).Kind(); got != want || got != jsontext.Value(text).Kind() {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got := (Value{}).Kind(); got != jsontext.KindInvalid {
		t.Errorf("unset: %s", got)
	}
	if !(Value{}).IsNull() || !NullValue().IsNull() || (Value{}).IsSet() || !NullValue().IsSet() {
		t.Error("unset and null")
	}
}
