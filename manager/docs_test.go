package manager

import (
	"encoding/base64"
	"encoding/json/jsontext"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simplex/manager/protocol"
)

// The requests of docs/manager.md, one after the other, give the answers beside them.
func TestDocumentedLife(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/manager.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	text := strings.ReplaceAll(string(page), "/srv/simplex", p.root)
	blocks := strings.Split(text, "```json\n")[2:] // the first one shows the envelope
	if len(blocks) != 14 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for i := 0; i < len(blocks); i += 2 {
		request, _, _ := strings.Cut(blocks[i], "```")
		want, _, _ := strings.Cut(blocks[i+1], "```")
		req, failure := protocol.Decode(base64.StdEncoding.EncodeToString([]byte(request)))
		if failure != nil {
			t.Fatalf("%v in %s", failure, request)
		}
		if req.Operation == protocol.ReadState {
			p.write(filepath.Join(req.Directory, "state/state.json"), "{\n  \"schema_version\": 1,\n  \"turns\": []\n}\n")
		}
		got, failure := answerOf(p.m, req)
		if failure != nil {
			t.Fatalf("%s: %v", req.Operation, failure)
		}
		if expected := jsontext.Value(want); expected.Compact() != nil || string(expected) != string(got) {
			t.Errorf("%s: %s\nthe page says %s", req.Operation, got, expected)
		}
	}
}
