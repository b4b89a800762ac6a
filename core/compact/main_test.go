package compact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"simplex/core/compact"
	"simplex/hooks"
	"simplex/hooks/contextstat"
	"simplex/loop"
	"simplex/persistence"
	"simplex/persistence/archive"
	"simplex/persistence/jsonstore"
	"simplex/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2031, 2, 3, 12, 0, 0, 0, time.UTC)

const window = 128000

// uuids are fresh ids in order.
func uuids() func() string {
	var n atomic.Uint64
	return func() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n.Add(1)) }
}

// script is a model that gives its answers one after the other and remembers what it was
// asked.
type script struct {
	answers []func(ctx context.Context) (*state.Message, error)
	asked   []*state.State
}

func (s *script) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	s.asked = append(s.asked, conv)
	if len(s.answers) == 0 {
		return nil, errors.New("the script is over")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next(ctx)
}

func (s *script) add(answers ...func(ctx context.Context) (*state.Message, error)) {
	s.answers = append(s.answers, answers...)
}

// says answers with a text and with calls of the names.
func says(text string, calls ...string) func(context.Context) (*state.Message, error) {
	m := state.NewTextMessage(state.ModelResponse, "assistant", text)
	m.Cost = &state.TokenCost{Prompt: 100, Generated: 10}
	for i, name := range calls {
		m.Calls = append(m.Calls, state.Call{ID: fmt.Sprint("c", i), Name: name, Arguments: state.EmptyObject().Value})
	}
	return func(context.Context) (*state.Message, error) { return m, nil }
}

func fails(err error) func(context.Context) (*state.Message, error) {
	return func(context.Context) (*state.Message, error) { return nil, err }
}

// echo is a set of tools that all answer at once.
type echo struct{}

func (echo) Prepare(c state.Call, _ func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	c.Type, c.Security = state.ReadOnly, state.Trusted
	return c, func(context.Context) state.Result {
		return state.Result{Call: c, Output: state.TextContent("done " + c.Name)}
	}
}

// bench is a session on a real disk, as core would keep it.
type bench struct {
	t       testing.TB
	root    string
	store   *jsonstore.Store
	memory  *archive.Memory
	model   *script
	st      *state.State
	swaps   int
	events  []string
	newID   func() string
	hooks   *hooks.Registry
	window  uint64
	archive compact.Archive // nil: memory
	now     func() time.Time
	save    func(*state.State) error // nil: the store
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir(), model: &script{}, newID: uuids(), window: window, now: func() time.Time { return noon }}
	b.open()
	var err error
	if b.memory, err = archive.New(archive.Config{Dir: filepath.Join(b.root, "memory"), Keep: 5}); err != nil {
		t.Fatal(err)
	}
	statistic, err := contextstat.New(window)
	if err != nil {
		t.Fatal(err)
	}
	b.hooks = hooks.NewRegistry(statistic)
	b.st = state.New("s", noon)
	b.st.SystemPrompt.Sections = []state.Section{{Name: "persona", Stability: state.Immutable, Text: "Be brief."}}
	b.st.Tools = []state.Tool{{Name: "look", Description: "Look around.", ArgumentSchema: state.EmptyObject()}}
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.store, err = jsonstore.Open(jsonstore.Config{Root: b.root, SessionID: "s"}); err != nil {
		b.t.Fatal(err)
	}
}

// talk makes a conversation of a few turns: text, one call, three parallel calls.
func (b *bench) talk() {
	b.t.Helper()
	for i := range 4 {
		b.model.add(says("looking", "look"), says("once more", "a", "b", "c"), says(strings.Repeat("answer ", 500)))
		out := b.segment(context.Background(), state.NewTextMessage(state.UserInput, "user", fmt.Sprint("question ", i)))
		if out.Status != state.StatusCompleted {
			b.t.Fatal(out.Status, out.Err)
		}
	}
	b.model.asked = nil
	if err := b.store.Save(context.Background(), b.st, persistence.RunFinished); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) segment(ctx context.Context, input *state.Message) loop.Outcome {
	return loop.Run(ctx, b.st, input, loop.Config{Model: b.model, Tools: echo{}, Hooks: b.hooks, MaxExchanges: 10})
}

func (b *bench) runner() *compact.Runner {
	b.t.Helper()
	cfg := compact.Config{
		Archive: b.memory, Model: b.model, WindowTokens: b.window, Now: b.now, NewID: b.newID,
		Save: func(next *state.State) error {
			b.events = append(b.events, "save")
			if b.save != nil {
				return b.save(next)
			}
			return b.store.Save(context.Background(), next, persistence.Compact)
		},
		Swap: func(next *state.State) {
			b.events = append(b.events, "swap")
			b.st = next
			b.swaps++
		},
	}
	if b.archive != nil {
		cfg.Archive = b.archive
	}
	r, err := compact.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) job() compact.Job {
	return compact.Job{RunID: b.newID(), Prompt: "Summarise.\n", Archived: func() error {
		b.events = append(b.events, "archived")
		return nil
	}}
}

func encoded(t testing.TB, st *state.State) string {
	t.Helper()
	var out bytes.Buffer
	if err := state.Encode(&out, st); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// onDisk is the session that a new process would find.
func (b *bench) onDisk() *state.State {
	b.t.Helper()
	if err := b.store.Close(); err != nil && !errors.Is(err, persistence.ErrClosed) {
		b.t.Fatal(err)
	}
	b.open()
	st, err := b.store.Load(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}
