package loop_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"simplex/hooks"
	"simplex/loop"
	"simplex/state"
)

// machine is a session under everything that may happen to one.
type machine struct {
	t     *rapid.T
	st    *state.State
	saved []byte // what a crash would leave
	store *state.Encoder

	cancel  context.CancelFunc
	left    int // events until trouble
	trouble string
	dead    bool   // the process is gone; what still runs is not real
	image   []byte // saved when it died
	maximum uint64 // highest commit sequence seen in this life
	mu      sync.Mutex
	ran     map[string]int // by call id; survives crashes, as effects do
}

// Troubles at an event. A crash may come before or after the event's save.
var troubles = []string{"none", "none", "cancel", "error", "panic", "crash before", "crash after"}

var toolNames = []string{"rok", "pok", "sok", "xok", "rpanic", "spanic", "perror", "smissing", "pforeign", "scancel", "prepare-panics", "gives-no-run"}

func (m *machine) Name() string { return "machine" }

func (m *machine) Handle(_ context.Context, e *hooks.Event) error {
	if m.dead {
		return nil
	}
	m.observe(e)
	m.left--
	trouble := "none"
	if m.left == 0 {
		trouble = m.trouble
	}
	switch trouble {
	case "cancel":
		m.cancel()
	case "error":
		return errors.New("hook error")
	case "panic":
		panic("hook panic")
	case "crash before":
		m.die()
		return nil
	}
	m.save(e)
	if trouble == "crash after" {
		m.die()
	}
	return nil
}

func (m *machine) die() { m.dead, m.image = true, m.saved }

// observe checks what holds at every event.
func (m *machine) observe(e *hooks.Event) {
	early := e.Name == hooks.ModelCommitted || e.Name == hooks.BeforeToolBatch
	if err := state.Check(e.State); err != nil && !early {
		m.t.Fatalf("at %s: %v", e.Name, err)
	}
	seq := e.State.Loop.CommittedSequence
	if e.Name == hooks.ModelCommitted && seq != m.maximum+1 || e.Name != hooks.ModelCommitted && seq != m.maximum {
		m.t.Fatalf("at %s: commit sequence %d after %d", e.Name, seq, m.maximum)
	}
	m.maximum = seq
}

// save is the durable point of a worker, at its usual boundaries.
func (m *machine) save(e *hooks.Event) {
	switch e.Name {
	case hooks.ToolDispatchCheckpoint, hooks.ToolResultsCheckpoint, hooks.StepFinished, hooks.RunFinished:
		var buf bytes.Buffer
		if err := m.store.Encode(&buf, e.State); err != nil {
			m.t.Fatalf("save: %v", err)
		}
		m.saved = buf.Bytes()
	}
}

func (m *machine) encode(st *state.State) []byte {
	var buf bytes.Buffer
	if err := state.Encode(&buf, st); err != nil {
		m.t.Fatalf("encode: %v", err)
	}
	return buf.Bytes()
}

// Exchange draws an answer.
func (m *machine) Exchange(ctx context.Context, conv *state.State) (*state.Message, error) {
	if conv.Loop.Phase != state.PhaseModel {
		m.t.Fatalf("model called in phase %s", conv.Loop.Phase)
	}
	switch rapid.SampledFrom([]string{"answer", "calls", "calls", "calls", "error", "stop", "bad"}).Draw(m.t, "model") {
	case "answer":
		return response("done"), nil
	case "error":
		return nil, errors.New("provider error")
	case "stop":
		m.cancel()
		return nil, ctx.Err()
	case "bad":
		return response("", ":x"), nil
	}
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(toolNames).Draw(t, "tool") + ":" + rapid.SampledFrom([]string{"", "a", "b", "a~2"}).Draw(t, "id")
	}), 1, 4).Draw(m.t, "calls")
	return response("", calls...), nil
}

func (m *machine) Prepare(c state.Call, _ func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	if c.Name == "prepare-panics" {
		panic("prepare panic")
	}
	c.Type = class(c.Name)
	if c.Name == "gives-no-run" {
		return c, nil
	}
	return c, func(context.Context) state.Result { return m.tool(c) }
}

func (m *machine) tool(c state.Call) state.Result {
	if !m.dead {
		m.mu.Lock()
		m.ran[c.ID]++
		m.mu.Unlock()
	}
	switch c.Name[1:] {
	case "panic":
		panic("tool panic")
	case "missing":
		return state.Result{}
	case "foreign":
		return state.Result{Call: state.Call{ID: "elsewhere", Name: "other", Arguments: state.EmptyObject().Value}, Output: part("x")}
	case "cancel":
		m.cancel()
	case "error":
		return state.Result{Call: c, Output: part("failed"), Extras: state.EmptyObject().With("error", state.EmptyObject().Value)}
	}
	return state.Result{Call: c, Output: part("ok")}
}

func (m *machine) message(t *rapid.T) { m.run(t, said("next")) }

func (m *machine) proceed(t *rapid.T) {
	if len(m.st.Turns) == 0 {
		t.Skip("nothing to continue")
	}
	m.run(t, nil)
}

// crash between two runs.
func (m *machine) crash(t *rapid.T) {
	m.t = t
	m.restart(m.saved)
}

func (m *machine) run(t *rapid.T, input *state.Message) {
	m.t = t
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m.cancel = cancel
	m.left = rapid.IntRange(1, 30).Draw(t, "trouble at")
	m.trouble = rapid.SampledFrom(troubles).Draw(t, "trouble")
	m.dead = false
	out := loop.Run(ctx, m.st, input, loop.Config{
		Model: m, Tools: m, Hooks: hooks.NewRegistry(m),
		MaxExchanges: rapid.Uint64Range(1, 4).Draw(t, "max"),
		Threshold:    rapid.Uint64Range(0, 1).Draw(t, "threshold"),
	})
	if !out.Admitted {
		t.Fatalf("not admitted: %v", out.Err)
	}
	checkState(t, m.st)
	if m.st.Loop.Status != out.Status || m.st.Loop.CompletedExchanges != out.Exchanges {
		t.Fatalf("outcome %+v, progress %+v", out, m.st.Loop)
	}
	if m.dead {
		m.restart(m.image)
	}
}

// restart makes a new process of what was saved, as a worker and its operator do.
func (m *machine) restart(image []byte) {
	st, err := state.Decode(image)
	if err != nil {
		m.t.Fatalf("reload: %v", err)
	}
	if !bytes.Equal(m.encode(st), image) {
		m.t.Fatalf("the state is not what was saved")
	}
	m.store = state.NewEncoder()
	m.st, m.saved, m.maximum = st, image, st.Loop.CommittedSequence
	switch st.Loop.Phase {
	case state.PhaseReady, state.PhaseProjection:
	case state.PhaseTools:
		m.repair()
	default:
		m.t.Fatalf("saved in phase %s", st.Loop.Phase)
	}
}

// repair is the operator's answer to "recovery required".
func (m *machine) repair() {
	out := loop.Run(context.Background(), m.st, said("too early"), loop.Config{Model: m, MaxExchanges: 1})
	if out.Admitted || !errors.Is(out.Err, loop.ErrRecoveryRequired) {
		m.t.Fatalf("outcome %+v", out)
	}
	step := *m.st.LastStep()
	for _, c := range step.ModelResponse.Calls {
		step.Returns = append(step.Returns, state.NewResultMessage(state.Result{Call: c, Output: part("unknown")}))
	}
	step.ReturnsSet = true
	m.st.ReplaceLastStep(&step)
	p := *m.st.Loop
	p.Phase = state.PhaseReady
	m.st.Loop = &p
	m.saved = m.encode(m.st)
}

// check is what holds between any two things that happen.
func (m *machine) check(t *rapid.T) {
	if err := state.Check(m.st); err != nil {
		t.Fatalf("structure: %v", err)
	}
	for id, n := range m.ran {
		if n > 1 {
			t.Fatalf("the tool of call %q ran %d times", id, n)
		}
	}
	answered := map[string]int{}
	for _, turn := range m.st.Turns {
		for _, step := range turn.Steps {
			for _, ret := range step.Returns {
				answered[ret.Result.Call.ID]++
				skipped := strings.HasPrefix(ret.Result.Output.Raw, "not run: ")
				if skipped && m.ran[ret.Result.Call.ID] > 0 {
					t.Fatalf("call %q ran and says that it did not", ret.Result.Call.ID)
				}
			}
		}
	}
	for id, n := range answered {
		if n != 1 {
			t.Fatalf("call %q has %d results", id, n)
		}
	}
}

// However messages, continues, stops, errors, panics and crashes are mixed: one result
// per call, no tool twice, sequences without a gap, and a state that can go on.
func TestAnySequenceOfTroubles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{t: t, st: newRig().st, store: state.NewEncoder(), ran: map[string]int{}}
		m.saved = m.encode(m.st)
		t.Repeat(map[string]func(*rapid.T){
			"message":  m.message,
			"continue": m.proceed,
			"crash":    m.crash,
			"":         m.check,
		})
	})
}
