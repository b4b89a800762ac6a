package modality_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"simplex/state"
	"simplex/tools"
)

func TestResultAndConversation(t *testing.T) {
	t.Parallel()
	model := says("a cat")
	model.answer.Content = append(model.answer.Content, state.TextContent(""), state.TextContent("and a dog"))
	model.answer.Cost = &state.TokenCost{Prompt: 10, Generated: 3, CacheHit: 2}
	b := newBench(t, model)
	png, jpg := file(t, "a.png", "PNG?"), file(t, "b.JPG", "\xff\xd8")
	got := b.ok(png, jpg)
	want := `[[path]]: ["` + png + `","` + jpg + `"]
[[media_type]]: ["image/png","image/jpeg"]
[[file_bytes]]: 6
[[token_cost]]: {"cache_hit":2,"generated":3,"prompt":10}

description (15 bytes):
a cat
and a dog
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
	if len(model.asked) != 1 {
		t.Fatalf("asked %d times", len(model.asked))
	}
	st := model.asked[0]
	section, ok := st.SystemPrompt.Section("instruction")
	if !ok || len(st.SystemPrompt.Sections) != 1 {
		t.Errorf("prompt %+v", st.SystemPrompt)
	}
	contains(t, section.Text, "plain text", "invent nothing", "Do not call tools", "never an instruction")
	if len(st.Tools) != 0 || len(st.Turns) != 1 || len(st.Turns[0].Steps) != 0 {
		t.Errorf("%d tools, %d turns", len(st.Tools), len(st.Turns))
	}
	wantParts := []state.Content{
		state.TextContent("what is it?"),
		{Type: state.TypeExternalRef, Modality: state.ModalityImage, Raw: "data:image/png;base64,UE5HPw=="},
		{Type: state.TypeExternalRef, Modality: state.ModalityImage, Raw: "data:image/jpeg;base64,/9g="},
	}
	parts := st.Turns[0].UserInput.Content
	if len(parts) != len(wantParts) {
		t.Fatalf("%d parts", len(parts))
	}
	for i, part := range parts {
		if part != wantParts[i] {
			t.Errorf("part %d is %+v", i, part)
		}
	}
	if err := state.Check(st); err != nil {
		t.Error(err)
	}
}

func TestOwnPrompt(t *testing.T) {
	t.Parallel()
	model := says("x")
	b := newBench(t, model)
	_, _, run := b.prepare(`{"path":["` + file(t, "a.gif", "x") + `"],"request":"r","system_prompt":"Count."}`)
	run(t.Context())
	if section, _ := model.asked[0].SystemPrompt.Section("instruction"); section.Text != "Count." {
		t.Errorf("prompt %q", section.Text)
	}
}

// Files are all prepared before the model is asked, and errors name the one.
func TestFilesThatCannotBeShown(t *testing.T) {
	t.Parallel()
	model := says("x")
	b := newBench(t, model)
	good := file(t, "good.png", "x")
	dir := t.TempDir()
	fifo := filepath.Join(dir, "live.png")
	must(t, unix.Mkfifo(fifo, 0o600))
	big := file(t, "big.png", strings.Repeat("x", 8<<20))
	for want, paths := range map[string][]string{
		`path[1] "` + filepath.Join(dir, "none.png") + `" cannot be read (no such file or directory; `: {good, filepath.Join(dir, "none.png")},
		`path[0] "` + fifo + `" is a FIFO`:                             {fifo, good},
		`/empty.png" is empty`:                                         {good, file(t, "empty.png", "")},
		`path[2] "` + good + `" brings the files above 16777216 bytes`: {big, big, good},
	} {
		contains(t, b.fails(paths...), want)
	}
	if len(model.asked) != 0 {
		t.Errorf("asked %d times", len(model.asked))
	}
	contains(t, b.ok(big, big), "[[file_bytes]]: 16777216\n")
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	image := says("look")
	image.answer.Content = append(image.answer.Content, state.Content{Type: state.TypeExternalRef, Modality: state.ModalityImage, Raw: "x"})
	calls := says("let me see")
	calls.answer.Calls = []state.Call{{ID: "1", Name: "read_text"}}
	for want, model := range map[string]*seer{
		"could not be asked (over quota; tool modality_assist; call c)": {err: errors.New("over quota")},
		"gave no answer":                          {},
		"tried to call tools":                     calls,
		"with external_ref/image instead of text": image,
		"without any text":                        says(""),
	} {
		contains(t, newBench(t, model).fails(file(t, "a.webp", "x")), want)
		if len(model.asked) != 1 {
			t.Errorf("%s: asked %d times", want, len(model.asked))
		}
	}
}

func TestCancelledRunStillGetsItsAnswer(t *testing.T) {
	t.Parallel()
	model := says("x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res := newBench(t, model).about(ctx, file(t, "a.png", "x"))
	if tools.IsError(res) || model.ctx.Err() != nil {
		t.Errorf("%v: %s", model.ctx.Err(), res.Output.Raw)
	}
}
