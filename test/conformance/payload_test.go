package conformance

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"simplex/test/conformance/rig"
)

type object = rig.Object

// refusedPayload is a payload that must be answered with input_rejected.
type refusedPayload struct {
	section, name string
	payload       any
	id            string // request_id of the envelope
	code          string
}

func part(pairs ...any) object {
	return rig.With(object{"type": "text", "modality": "text", "raw": "x"}, pairs...)
}

func content(parts ...any) object {
	return object{"operation": "message", "request_id": "id", "content": parts}
}

func without(o object, name string) object {
	out := rig.With(o)
	delete(out, name)
	return out
}

// badInputs are all ways in which an input is refused as a whole.
func badInputs() []refusedPayload {
	ok := rig.Message("id", "x")
	rows := []refusedPayload{
		{"3", "no operation", without(ok, "operation"), "id", ""},
		{"3", "operation is no string", rig.With(ok, "operation", 1), "id", ""},
		{"3", "unknown operation", rig.With(ok, "operation", "run"), "id", ""},
		{"3", "a signal as payload", object{"operation": "status", "request_id": "id"}, "id", ""},
		{"3", "no request_id", without(ok, "request_id"), "", ""},
		{"2", "request_id is no string", rig.With(ok, "request_id", 7), "", ""},
		{"2", "request_id null", rig.With(ok, "request_id", nil), "", ""},
		{"2", "request_id empty", rig.With(ok, "request_id", ""), "", ""},
		{"2", "request_id of 129 bytes", rig.With(ok, "request_id", strings.Repeat("i", 129)), "", ""},
		{"2", "request_id of 65 characters, 130 bytes", rig.With(ok, "request_id", strings.Repeat("é", 65)), "", ""},
		{"3", "no content", without(ok, "content"), "id", ""},
		{"3", "content null", rig.With(ok, "content", nil), "id", ""},
		{"3", "content is a text", rig.With(ok, "content", "x"), "id", ""},
		{"3", "content is one part", rig.With(ok, "content", part()), "id", ""},
		{"3", "content empty", content(), "id", ""},
		{"3", "a part is no object", content("x"), "id", ""},
		{"3", "the second part is bad", content(part(), 1), "id", ""},
		{"3", "part without type", content(without(part(), "type")), "id", ""},
		{"3", "part of unknown type", content(part("type", "image")), "id", ""},
		{"3", "part of type null", content(part("type", nil)), "id", ""},
		{"3", "part without modality", content(without(part(), "modality")), "id", ""},
		{"3", "part of unknown modality", content(part("modality", "smell")), "id", ""},
		{"3", "part without raw", content(without(part(), "raw")), "id", ""},
		{"3", "raw empty", content(part("raw", "")), "id", ""},
		{"3", "raw is no string", content(part("raw", 1)), "id", ""},
		{"3", "part extras is a list", content(part("extras", []int{1})), "id", ""},
		{"3", "part extras null", content(part("extras", nil)), "id", ""},
		{"3", "message with text", rig.With(ok, "text", "x"), "id", ""},
		{"3", "continue with content", rig.Op("continue", "request_id", "id", "content", rig.Text("x")), "id", ""},
		{"3", "continue with text", rig.Op("continue", "request_id", "id", "text", "x"), "id", ""},
		{"3", "continue with nothing to continue", rig.Op("continue", "request_id", "id"), "id", ""},
		{"3", "compact with content", rig.Op("compact", "request_id", "id", "content", rig.Text("x")), "id", ""},
		{"3", "compact with nothing to compact", rig.Op("compact", "request_id", "id"), "id", ""},
	}
	for _, name := range []string{"role", "invokes", "invoke_return", "type"} {
		rows = append(rows, refusedPayload{"3", "message with " + name + " null", rig.With(ok, name, nil), "id", ""})
	}
	return append(rows, badOptions(ok)...)
}

func badOptions(ok object) []refusedPayload {
	var rows []refusedPayload
	for name, options := range map[string]any{
		"null": nil, "a list": []int{}, "a text": "x", "unknown category": object{"voice": object{}},
		"model null": object{"model": nil}, "model a text": object{"model": "x"},
		"model with unknown name": object{"model": object{"no_such_option": "x"}}, "model with an unknown value": object{"model": object{"model": 7}},
		"tools not empty": object{"tools": object{"a": 1}}, "tools null": object{"tools": nil}, "tools a list": object{"tools": []int{}},
		"confirmation null": object{"confirmation": nil}, "confirmation a text": object{"confirmation": "approve"},
		"mode null": object{"confirmation": object{"mode": nil}}, "mode unknown": rig.Mode("maybe"),
		"confirmation with more": object{"confirmation": object{"mode": "ask", "x": 1}},
		"good mode, bad model":   object{"confirmation": object{"mode": "approve"}, "model": object{"nope": 1}},
	} {
		rows = append(rows, refusedPayload{"3", "options: " + name, rig.With(ok, "options", options), "id", "invalid_options"})
	}
	return rows
}

// TestInputsRefused sends all bad inputs to one worker: none consumes its id, none changes
// anything.
func TestInputsRefused(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Reply{Text: "ok"})
	p := r.Online()
	for _, row := range badInputs() {
		t.Run("§"+row.section+" "+row.name, func(t *testing.T) {
			count(row.section)
			r.Payload(row.payload)
			e := r.Rejected()
			if e.RequestID != row.id || e.RunID != "" || e.Field("code") != row.code || e.Field("message") == "" {
				t.Errorf("%s", e.Raw)
			}
			sent, err := json.Marshal(row.payload.(object)["request_id"])
			if err != nil || string(e.Value("request_id")) != string(sent) {
				t.Errorf("request_id %s, sent %s", e.Value("request_id"), sent)
			}
		})
	}
	e := r.Status()
	if string(e.Value("active")) != "false" || r.Number(e, "rejected_payloads") != 0 || r.Saved() != "" {
		t.Errorf("refusals left traces: %s", e.Data)
	}
	r.Signal(rig.Op("options"))
	if e := r.Expect("options"); e.Field("confirmation", "current", "mode") != "ask" {
		t.Errorf("a refused option was applied: %s", e.Data)
	}
	r.Payload(rig.Message("id", "x")) // no refusal consumed the id
	r.Completes()
	continuous(t, r.Hub.Events())
	p.Stop()
}

func TestInputsAdmitted(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"3", "content is kept as it came", keepsContent},
		{"3", "an attachment alone is fine", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			p := r.Online()
			r.Payload(content(part("type", "external_ref", "modality", "image", "raw", "https://example.invalid/a.png")))
			r.Completes()
			p.Stop()
		}},
		{"2", "request_id of 128 bytes, and of any characters", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"}, rig.Reply{Text: "ok"})
			p := r.Online()
			for _, id := range []string{strings.Repeat("é", 64), "\x00\"\\ \u2028"} {
				r.Payload(rig.Message(id, "x"))
				if e := r.Completes(); e.RequestID != id {
					t.Errorf("%s", e.Raw)
				}
			}
			p.Stop()
		}},
		{"3", "order: the whole payload, then the id, then options", admissionOrder},
		{"3", "options last until the process ends and are in no state", optionsLast},
		{"3", "payloads wait in turn, the queue has an end", payloadQueue},
		{"3", "compact needs persistence", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			r.Persistence = "enabled: false"
			p := r.Online()
			r.Payload(rig.Message("q1", "x"))
			if e := r.Completes(); string(e.Value("durable")) != "false" {
				t.Errorf("%s", e.Data)
			}
			r.Payload(rig.Op("compact", "request_id", "q2"))
			if e := r.Rejected(); e.RequestID != "q2" || e.Field("operation") != "compact" {
				t.Errorf("%s", e.Raw)
			}
			caps := string(r.Status().Value("capabilities"))
			if strings.Contains(caps, "compact") || !strings.Contains(caps, "session-history") {
				t.Errorf("capabilities %s", caps)
			}
			p.Stop()
		}},
	})
}

func keepsContent(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "ok"})
	p := r.Online()
	raw := `{"type":"payload","data":{"operation":"message","request_id":"q1","unknown":{"a":1},"content":[` +
		`{"type":"text","modality":"text","raw":"  two\n\u2028lines \n","extras":{"big":18446744073709551615,"one":1.0,"z":null}},` +
		`{"type":"binary","modality":"document","raw":"bm90IGRlY29kZWQ="},{"type":"external_ref","modality":"document","raw":"file:///x"}]}}`
	if err := r.Hub.SendRaw(1, []byte(raw)); err != nil {
		t.Fatal(err)
	}
	r.Until("input_committed")
	r.Finished() // what the model's protocol cannot carry may fail; the input stays
	p.Stop()
	st := r.State()
	in := st.Turns[0].UserInput.Content
	if len(in) != 3 || in[0].Raw != "  two\n\u2028lines \n" || in[1].Raw != "bm90IGRlY29kZWQ=" || in[2].Raw != "file:///x" {
		t.Errorf("content %+v", in)
	}
	saved := r.Saved()
	for _, want := range []string{`"big": 18446744073709551615`, `"one": 1.0`, `"z": null`} {
		if !strings.Contains(saved, want) {
			t.Errorf("extras lost %s", want)
		}
	}
}

func admissionOrder(t *testing.T) {
	r := rig.New(t, rig.Reply{Text: "ok"}, rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	r.Completes()
	for _, step := range []struct {
		name    string
		options any
		bad     bool
		code    string
	}{
		{"malformed and duplicate", object{"voice": object{}}, false, "invalid_options"}, // the payload is not valid
		{"duplicate with an option the provider refuses", object{"model": object{"nope": 1}}, false, ""},
		{"duplicate alone", object{}, false, ""},
	} {
		r.Payload(rig.With(rig.Message("q1", "x"), "options", step.options))
		if e := r.Rejected(); e.RequestID != "q1" || e.Field("code") != step.code {
			t.Errorf("%s: %s", step.name, e.Raw)
		}
	}
	r.Payload(rig.With(rig.Message("q2", "x"), "options", object{"model": object{"nope": 1}}))
	if e := r.Rejected(); e.Field("code") != "invalid_options" {
		t.Errorf("%s", e.Raw)
	}
	r.Payload(rig.Message("q2", "x")) // its id is still free
	r.Completes()
	p.Stop()
}

func optionsLast(t *testing.T) {
	call := func(id string) rig.Reply { return rig.Reply{Calls: []rig.Call{rig.Shell(id, "echo x >>effects")}} }
	r := rig.New(t, call("c1"), rig.Reply{Text: "ok"}, call("c2"), rig.Reply{Text: "ok"}, call("c3"), rig.Reply{Text: "ok"})
	p := r.Online()
	r.Payload(rig.Approved("q1", "x"))
	r.Completes()
	r.Payload(rig.Message("q2", "x")) // still approved
	r.Completes()
	r.Payload(rig.With(rig.Message("q3", "x"), "options", rig.Mode("deny")))
	r.Completes()
	if got := r.Effects(); len(got) != 2 {
		t.Errorf("effects %v", got)
	}
	r.Signal(rig.Op("options"))
	e := r.Expect("options")
	if e.Field("confirmation", "current", "mode") != "deny" || e.Value("model", "available") == nil || string(e.Value("tools", "available")) != "[]" {
		t.Errorf("%s", e.Data)
	}
	p.Stop()
	if strings.Contains(r.Saved(), `"approve"`) || strings.Contains(r.Saved(), `"deny"`) {
		t.Error("the mode is in the state")
	}
}

func payloadQueue(t *testing.T) {
	gate := make(chan struct{})
	r := rig.New(t, rig.Reply{Text: "one", Gate: gate}, rig.Reply{Text: "two"}, rig.Reply{Text: "three"})
	r.Client = "payload_capacity: 2"
	p := r.Online()
	r.Payload(rig.Message("q1", "x"))
	r.Model.Request(t, 1)
	for _, id := range []string{"q2", "q3", "q4"} {
		r.Payload(rig.Message(id, "x"))
	}
	if e := r.Rejected(); e.RequestID != "q4" || e.RunID != "" || e.Field("code") != "payload_queue_full" || e.Field("operation") != "message" {
		t.Errorf("%s", e.Raw)
	}
	r.Payload(rig.Op("history", "request_id", "h1")) // queries pass by
	r.Expect("history")
	if e := r.Status(); r.Number(e, "rejected_payloads") != 1 || string(e.Value("active")) != "true" {
		t.Errorf("%s", e.Data)
	}
	close(gate)
	for _, id := range []string{"q1", "q2", "q3"} {
		if e := r.Completes(); e.RequestID != id {
			t.Errorf("run of %s, want %s", e.RequestID, id)
		}
	}
	r.Payload(rig.Message("q4", "x")) // it was never admitted
	if e := r.Finished(); e.RequestID != "q4" {
		t.Errorf("%s", e.Raw)
	}
	p.Stop()
}
