package mcp

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools/mcp/client"
)

func TestValuesOfTheServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want string }{
		{` {"b": 1.50, "a": [ ]} `, `{"a":[],"b":1.50}`},
		{`{"a":1,"b":{"c":1,"c":{"d":2}},"a":3}`, `{"a":3,"b":{"c":{"d":2}}}`},
		{`[{"a":{"x":1},"a":{"y":[true,null,1.50,[]]}}]`, `[{"a":{"y":[true,null,1.50,[]]}}]`},
		{"{\"x\":\"\xff\",\"y\":\"\\ud800\"}", "{\"x\":\"\uFFFD\",\"y\":\"\uFFFD\"}"},
		{`null`, `null`},
		{``, ``},
	} {
		if v, err := tolerant(jsontext.Value(c.raw)); err != nil || v.String() != c.want {
			t.Errorf("%s: %s, %v, want %s", c.raw, v, err, c.want)
		}
	}
	for _, raw := range []string{`{`, `{"a":1,"a":2} {}`, `{"a":1,"a":}`, `{"a":1,"a":[1,]}`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
		if v, err := tolerant(jsontext.Value(raw)); err == nil {
			t.Errorf("%.20s: %.20s", raw, v)
		}
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		want string // "" is refused
	}{
		{`{"type":"object","properties":{"n":{"maximum":1e400}}}`, `{"properties":{"n":{"maximum":1e400}},"type":"object"}`},
		{`{"type":"string","type":"object"}`, `{"type":"object"}`},
		{raw: ``},
		{raw: `null`},
		{raw: `[]`},
		{raw: `{}`},
		{raw: `{"type":"array"}`},
	} {
		d, err := declare("", client.Tool{Name: "tool", InputSchema: jsontext.Value(c.raw)})
		if got := d.Schema.String(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %s, %v, want %s", c.raw, got, err, c.want)
		}
	}
}

func TestOddContents(t *testing.T) {
	t.Parallel()
	blob := "cG\r\n5n"
	got, err := mapResult(&client.Result{
		StructuredContent: jsontext.Value(`{"not":"shown"}`),
		Content: []client.Content{
			{Kind: "chart"},
			{Kind: client.KindImage, MIMEType: "image/png", Data: "#"},
			{Kind: client.KindResource},
			{Kind: client.KindResource, Resource: &client.Resource{URI: "file:///b", MIMEType: "x/y", Blob: &blob}},
		},
	}, 200)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[content of a kind that is not known here]\n[image image/png; no valid base64, left out]\n" +
		"[document x/y, 3 bytes; kept in the record, not shown here]"; got.Output.Raw != want {
		t.Errorf("%q", got.Output.Raw)
	}
	kept, _ := got.Extras.Get(ContentExtra)
	if want := `[{"extras":{"mime_type":"x/y"},"modality":"document","raw":"cG5n","type":"binary"}]`; kept.String() != want {
		t.Errorf("kept: %s", kept)
	}
	for raw, want := range map[string]string{`null`: "", ``: "", `{"b":1.0,"a":2}`: `{"a":2,"b":1.0}`} {
		got, err := mapResult(&client.Result{StructuredContent: jsontext.Value(raw)}, 100)
		if err != nil || got.Output != state.TextContent(want) {
			t.Errorf("%s: %v, %v", raw, got.Output, err)
		}
	}
	if got, err := mapResult(&client.Result{InputRequests: map[string]jsontext.Value{"a": nil}}, 100); err == nil {
		t.Errorf("a question: %v", got)
	}
}

func FuzzTolerant(f *testing.F) {
	for _, seed := range []string{`{"a":1,"a":[{"b":"x"},null,1e400]}`, "[\"\xff\",\"\\ud800\"]", `{} {}`, ``, `[1,]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := tolerant(raw)
		if strict, failure := state.ParseValue(raw); failure == nil && v != strict {
			t.Fatalf("%s is not %s", v, strict)
		}
		if err != nil || !v.IsSet() {
			return
		}
		if !jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("%s was made of what is no JSON", v)
		}
		if again, err := state.ParseValue(v.Bytes()); err != nil || again != v {
			t.Fatalf("%s, %v", v, err)
		}
	})
}
