package adapter_test

import (
	"testing"

	"simplex/hub/adapter"
	"simplex/state"
	"simplex/wire"
)

func TestOutboundFrames(t *testing.T) {
	t.Parallel()
	encode := func(in adapter.Input) string {
		raw, err := in.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for name, c := range map[string]struct{ got, want string }{
		"message": {
			encode(adapter.Input{Operation: wire.OpMessage, RequestID: "q1", Content: []state.Content{state.TextContent("<é>")}, Mode: wire.ModeAsk}),
			`{"type":"payload","data":{"operation":"message","request_id":"q1","content":[{"modality":"text","raw":"<é>","type":"text"}],"options":{"confirmation":{"mode":"ask"}}}}`,
		},
		"continue": {
			encode(adapter.Input{Operation: wire.OpContinue, RequestID: "q2"}),
			`{"type":"payload","data":{"operation":"continue","request_id":"q2"}}`,
		},
		"cancel":   {string(adapter.Cancel("r1")), `{"type":"signal","data":{"operation":"cancel","run_id":"r1"}}`},
		"shutdown": {string(adapter.Signal(wire.OpShutdown)), `{"type":"signal","data":{"operation":"shutdown"}}`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, c.got, c.want)
		}
	}
}

// TestOutboundFramesAreUnderstood decodes them as the worker does.
func TestOutboundFramesAreUnderstood(t *testing.T) {
	t.Parallel()
	raw, err := adapter.Input{
		Operation: wire.OpMessage, RequestID: "q1", Mode: wire.ModeApprove,
		Content: []state.Content{state.TextContent("日本\u2028")},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var decoder wire.FrameDecoder
	frame, err := decoder.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	in, rejected := wire.DecodeInput(frame.Data)
	if rejected != nil {
		t.Fatalf("rejected: %+v", rejected)
	}
	if in.RequestID != "q1" || in.Options.Mode != wire.ModeApprove || in.Content[0].Raw != "日本\u2028" {
		t.Errorf("decoded %+v", in)
	}
}
