package display_test

import (
	"errors"
	"strings"
	"testing"

	"simplex/state"
	"simplex/wire"
	"simplex/wire/display"
)

// Paging an answer gives it back byte for byte, whatever characters it holds.
func TestAnswerPages(t *testing.T) {
	t.Parallel()
	content := []state.Content{
		{Type: "text", Modality: "text", Raw: "x" + strings.Repeat("€", 40000)},
		{Type: "external_ref", Modality: "image", Raw: "https://x/"},
		{Type: "binary", Modality: "image", Raw: "QQ=="},
		{Type: "text", Modality: "text"},
	}
	for _, first := range []uint64{0, 1, 3} {
		var got strings.Builder
		req := wire.AnswerRequest{Part: first}
		for req.Part == first {
			page, err := display.Answer(content, "q", &req)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Raw) > wire.AnswerPage || page.NextOffset != page.Offset+uint64(len(page.Raw)) || page.Done != (page.NextPart == 4) {
				t.Fatalf("%+v", page)
			}
			got.WriteString(page.Raw)
			req.Part, req.Offset = page.NextPart, page.NextOffset
		}
		if got.String() != content[first].Raw {
			t.Errorf("part %d came back with %d bytes", first, got.Len())
		}
	}
	for req, want := range map[wire.AnswerRequest]error{
		{Part: 4}: display.ErrNoPart, {Part: 2}: display.ErrBinaryPart,
		{Part: 0, Offset: 2}: display.ErrBadOffset, {Part: 1, Offset: 11}: display.ErrBadOffset,
	} {
		if _, err := display.Answer(content, "q", &req); !errors.Is(err, want) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// An offset inside a character is refused wherever that character stands, the first one of
// the part included: a page from there would not be the answer's text.
func TestAnswerOffsetsInsideACharacter(t *testing.T) {
	t.Parallel()
	for _, character := range []string{"é", "漢", "🙂"} {
		for _, before := range []string{"", "x", character} {
			content := []state.Content{{Type: "text", Modality: "text", Raw: before + character + "end"}}
			for inside := 1; inside < len(character); inside++ {
				req := wire.AnswerRequest{Offset: uint64(len(before) + inside)}
				if page, err := display.Answer(content, "q", &req); !errors.Is(err, display.ErrBadOffset) {
					t.Errorf("offset %d of %q: %q, %v", req.Offset, content[0].Raw, page.Raw, err)
				}
			}
		}
	}
}
