package modality_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/modality"
)

var update = flag.Bool("update", false, "write schema/bundle.json anew")

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// decodeYAML is what the host gives in.
func decodeYAML(_ string, raw []byte) (state.Value, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return state.Value{}, err
	}
	return state.ValueOf(v)
}

// seer is a model that gives one answer to everything, and remembers what it was asked.
type seer struct {
	answer *state.Message
	err    error
	asked  []*state.State
	ctx    context.Context
}

func (s *seer) Exchange(ctx context.Context, st *state.State) (*state.Message, error) {
	s.asked, s.ctx = append(s.asked, st), ctx
	return s.answer, s.err
}

func says(text string) *seer {
	return &seer{answer: state.NewTextMessage(state.ModelResponse, "assistant", text)}
}

type bench struct {
	tb       testing.TB
	registry *tools.Registry
}

func newBench(tb testing.TB, model modality.Model) *bench {
	tb.Helper()
	set, err := modality.New(modality.Config{Model: model, Now: func() time.Time { return time.Unix(0, 0) }})
	must(tb, err)
	b := &bench{tb, tools.NewRegistry(nil)}
	must(tb, b.registry.Add(set))
	return b
}

func (b *bench) prepare(args string) (state.Call, state.Call, func(context.Context) state.Result) {
	b.tb.Helper()
	v, err := state.ParseValue([]byte(args))
	must(b.tb, err)
	call := state.Call{ID: "c", Name: "modality_assist", Arguments: v}
	settled, run := b.registry.Prepare(call, nil)
	return call, settled, run
}

// about asks about the files.
func (b *bench) about(ctx context.Context, paths ...string) state.Result {
	b.tb.Helper()
	list, err := state.ValueOf(paths)
	must(b.tb, err)
	_, _, run := b.prepare(`{"path":` + list.String() + `,"request":"what is it?"}`)
	return run(ctx)
}

func (b *bench) ok(paths ...string) string {
	b.tb.Helper()
	res := b.about(b.tb.Context(), paths...)
	if tools.IsError(res) {
		b.tb.Fatal(res.Output.Raw)
	}
	return res.Output.Raw
}

func (b *bench) fails(paths ...string) string {
	b.tb.Helper()
	res := b.about(b.tb.Context(), paths...)
	if !tools.IsError(res) || !strings.HasPrefix(res.Output.Raw, "Failed to run the tool: ") {
		b.tb.Fatalf("did not fail: %s", res.Output.Raw)
	}
	return res.Output.Raw
}

func file(tb testing.TB, name, content string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	must(tb, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func contains(tb testing.TB, text string, parts ...string) {
	tb.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			tb.Errorf("%q is missing in:\n%.2000s", part, text)
		}
	}
}
