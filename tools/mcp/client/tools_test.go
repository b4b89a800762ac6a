package client_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/tools/mcp/client"
)

// serveList answers requests for the list of tools with what page gives, a JSON object
// each, until the stream ends.
func serveList(t *testing.T, page func(n int) string) *client.Session {
	t.Helper()
	c, p := meet(t, 100_000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			line, err := p.in.ReadString('\n')
			if err != nil {
				return
			}
			id := strings.TrimPrefix(line[:strings.Index(line, `,"method"`)], `{"jsonrpc":"2.0","id":`)
			if _, err := fmt.Fprintf(p.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, page(n)); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		c.Close()
		<-done
	})
	return c
}

func TestListOfTools(t *testing.T) {
	t.Parallel()
	pages := []string{
		`{"tools":[{"name":"a","title":"A","description":"does a","inputSchema": {"type": "object", "n": 1.50},"annotations":{"readOnlyHint":"?"},"icons":7}],"nextCursor":"p\"2"}`,
		`{"tools":null,"nextCursor":"p3"}`,
		`{"tools":[{"name":"b","title":null},null],"nextCursor":null}`,
	}
	c := serveList(t, func(n int) string { return pages[n] })
	got, err := c.Tools(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []client.Tool{{Name: "a", Title: "A", Description: "does a", InputSchema: []byte(`{"type": "object", "n": 1.50}`)}, {Name: "b"}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		page       func(n int) string
	}{
		{"too many", "more than 3", func(n int) string { return fmt.Sprintf(`{"tools":[{},{}],"nextCursor":"%d"}`, n) }},
		{"a circle", "circle", func(n int) string { return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n%2) }},
		{"no end", "more than 512 pages", func(n int) string { return fmt.Sprintf(`{"nextCursor":"%d"}`, n) }},
		{"a long cursor", "cursor of more than", func(int) string { return `{"nextCursor":"` + strings.Repeat("x", 65<<10) + `"}` }},
		{"much", "more than 400000 bytes", func(n int) string {
			return fmt.Sprintf(`{"nextCursor":"%d","_meta":"%s"}`, n, strings.Repeat("x", 90_000))
		}},
		{"the wrong kind", "the answer to tools/list", func(int) string { return `{"tools":{}}` }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := serveList(t, c.page).Tools(t.Context(), 3); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	parts := []string{
		`{"type":"text","text":"a","annotations":{"audience":[1]}}`,
		`{"type":"image","data":"AA==","mimeType":"image/png"}`,
		`{"type":"audio","data":"not base64","mimeType":null}`,
		`{"type":"resource_link","uri":"file:///r","name":"r","size":1.5}`,
		`{"type":"resource","resource":{"uri":"file:///e","text":"inside","blob":null}}`,
		`{"type":"resource","resource":{"uri":"file:///b","blob":"","mimeType":"x/y"}}`,
		`{"type":"resource"}`,
		`{"type":"chart","text":{"any":"thing"},"data":[]}`,
		`{"type":5}`,
		`null`,
	}
	c := serveList(t, func(int) string {
		return `{"content":[` + strings.Join(parts, ",") + `],"structuredContent": {"b": 1.0},"isError":null,"_meta":{"x":1}}`
	})
	got, err := c.CallTool(t.Context(), "tool", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	empty := ""
	want := &client.Result{StructuredContent: []byte(`{"b": 1.0}`), Content: []client.Content{
		{Kind: client.KindText, Text: "a"},
		{Kind: client.KindImage, Data: "AA==", MIMEType: "image/png"},
		{Kind: client.KindAudio, Data: "not base64"},
		{Kind: client.KindLink, URI: "file:///r", Name: "r"},
		{Kind: client.KindResource, Resource: &client.Resource{URI: "file:///e", Text: "inside"}},
		{Kind: client.KindResource, Resource: &client.Resource{URI: "file:///b", MIMEType: "x/y", Blob: &empty}},
		{Kind: client.KindResource},
		{Kind: "chart"},
		{},
		{},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`"text"`, `{"content":{}}`, `{"content":[{"type":"text","text":5}]}`, `{"isError":"yes"}`} {
		c := serveList(t, func(int) string { return raw })
		if got, err := c.CallTool(t.Context(), "tool", []byte(`{}`)); err == nil || !strings.Contains(err.Error(), "the answer to tools/call") {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
}
