package state

import (
	"bytes"
	"encoding/json/jsontext"
	"testing"
)

// Nothing makes Decode panic; what it accepts is JSON for the standard library too, is
// written in one form only, and that form is a fixed point.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"example.json", "full.json", "legacy.json", "fresh.json"} {
		f.Add(readFile(f, name))
	}
	f.Add([]byte(emptyDoc))
	f.Add([]byte(doc(`+"extras":{"a":1e400,"\u0000":[{}]}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		st, err := Decode(raw)
		if err != nil {
			return
		}
		if text := jsontext.Value(bytes.TrimPrefix(raw, []byte("\ufeff"))); !text.IsValid() {
			t.Fatal("accepted what is not JSON")
		}
		_ = Check(st)
		_, _ = st.SystemPrompt.Render()
		first := encoded(t, st)
		if !jsontext.Value(first).IsValid() {
			t.Fatalf("wrote what is not JSON: %s", first)
		}
		if second := encoded(t, decoded(t, first)); !bytes.Equal(first, second) {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
	})
}

// ParseValue accepts what the standard library accepts (its nesting limit aside).
func FuzzParseValue(f *testing.F) {
	for _, text := range []string{`{"a":[1.10,-0,1e400,"\ud83d\ude00\u2028"]}`, `[`, `"\u0000"`, "\xff", `{"b":1,"a":2,"b":3}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := ParseValue(raw)
		if valid := jsontext.Value(raw).IsValid(); valid != (err == nil) && len(raw) < maxInputDepth {
			t.Fatalf("%q: standard library says %v, we say %v", raw, valid, err)
		}
		if err != nil {
			return
		}
		if again, err := ParseValue(v.Bytes()); err != nil || again != v {
			t.Fatalf("%q became %s, then %s, %v", raw, v, again, err)
		}
		indented := appendIndented(nil, v.String(), 0)
		compact := jsontext.Value(bytes.Clone(indented))
		if err := compact.Compact(); err != nil || string(compact) != v.String() {
			t.Fatalf("indented form differs: %s", indented)
		}
	})
}

// No bytes make the input boundary panic or let an unlabelled part in.
func FuzzDecodeInputContent(f *testing.F) {
	f.Add([]byte(`[{"type":"text","modality":"text","raw":"hi","extras":{"a":1},"x":null}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parts, err := DecodeInputContent(raw)
		if err != nil {
			return
		}
		if len(parts) == 0 {
			t.Fatal("no parts and no error")
		}
		for _, p := range parts {
			if p.Raw == "" || p.Type == "" || p.Modality == "" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
