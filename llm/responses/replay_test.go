package responses

import (
	"testing"

	"simplex/llm/llmtest"
	"simplex/llm/replay"
	"simplex/llm/strict"
	"simplex/state"
)

func TestRandomHistories(t *testing.T) {
	t.Parallel()
	llmtest.CheckReplay(t, func() replay.Form { return form{} }, strict.Responses)
}

func TestPrefixStaysOverFiftyTurns(t *testing.T) { // not parallel: it counts allocations
	llmtest.CheckPrefix(t, form{})
}

func BenchmarkBuildRequest(b *testing.B) {
	llmtest.BenchBuild(b, func() replay.Form { return form{} })
}

// FuzzEvent: any event is taken or ignored, and what is kept of it is JSON.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"type":"response.output_item.done","item":{"type":"function_call","arguments":"{}"}}`))
	f.Add([]byte(`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"\ud83d"}]}]}}`))
	f.Add([]byte(`{"item":{"a":1,"a":2}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := newEvent()
		if e.decode(data) != nil {
			return
		}
		text(e.Delta)
		a := answer{}
		for _, o := range []state.Object{object(e.Item), object(e.Response)} {
			if o.IsSet() && o.Kind() != '{' {
				t.Errorf("%s", o)
			}
			if o.IsSet() {
				a.items = append(a.items, o)
			}
		}
		if err := a.complete(object(e.Response)); err != nil {
			return
		}
		m, err := a.Message(replay.New(form{}).IDs(), "x")
		if err == nil && m == nil {
			t.Error("neither a message nor an error")
		}
	})
}
