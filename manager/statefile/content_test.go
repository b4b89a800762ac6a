package statefile_test

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"simplex/manager/statefile"
)

// The scanner takes and refuses what the standard library's strict decoder does, however
// the bytes come in.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0,1.5e+3,0.1E-9,true,false,null,"\u00e9\ud83d\ude00\n"],"b":{},"c":{"d":[]}}`, "{}", " {\n} ", `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":+1}`,
		`{"a":tru}`, `{"a" 1}`, `{"a":1,}`, `{,}`, `[1]`, `{"a":[1,]}`, `{"a":"\x"}`, `{"a":"\ud800\u0041"}`, `{"":1,"":2}`, `{"a":1e}`, `{"a":[}`, "{\"\u00e9\":1,\"\\u00e9\":2}",
		`{"k":"` + strings.Repeat("x", 300) + `"}`, `{"a":1}}`, `{"a":{"b":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		want := jsontext.Value(raw).IsValid() && jsontext.Value(raw).Kind() == '{'
		for name, r := range map[string]io.Reader{
			"whole": bytes.NewReader(raw), "byte by byte": iotest.OneByteReader(bytes.NewReader(raw)), "halves": iotest.HalfReader(bytes.NewReader(raw)),
		} {
			err := statefile.CheckObject(r)
			if (err == nil) != want {
				t.Fatalf("%s: %v, the library says %v: %q", name, err, want, raw)
			}
			if err != nil && !errors.Is(err, statefile.ErrContent) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if !want {
			return
		}
		compact := jsontext.Value(bytes.Clone(raw))
		if err := compact.Compact(); err != nil {
			t.Skip()
		}
		for _, r := range []io.Reader{bytes.NewReader(raw), iotest.OneByteReader(bytes.NewReader(raw))} {
			var b bytes.Buffer
			if err := statefile.CopyObject(&b, r); err != nil || !bytes.Equal(b.Bytes(), compact) {
				t.Fatalf("%v: %q, want %q", err, b.Bytes(), compact)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add([]byte("\ufeff\u2028é\x00\"\\\n\U0001f600"))
	f.Add([]byte("\xff"))
	f.Add([]byte("\xef\xbb"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		body := bytes.TrimPrefix(raw, []byte("\ufeff"))
		for _, reader := range []func() io.Reader{
			func() io.Reader { return bytes.NewReader(raw) },
			func() io.Reader { return iotest.OneByteReader(bytes.NewReader(raw)) },
		} {
			err := statefile.CheckText(reader())
			if valid := strings.ToValidUTF8(string(body), "") == string(body); valid != (err == nil) {
				t.Fatalf("%v for %q", err, raw)
			}
			if err != nil {
				continue
			}
			var b bytes.Buffer
			if err := statefile.CopyText(&b, reader()); err != nil {
				t.Fatal(err)
			}
			got, err := jsontext.AppendUnquote(nil, b.Bytes())
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%v: %q for %q", err, b.Bytes(), raw)
			}
		}
	})
}
