package rig

import (
	"encoding/json/v2"

	"simplex/hub/fakehub"
)

// Object is a JSON object that a test sends.
type Object = map[string]any

// Text is a content of one text part.
func Text(raw string) []Object { return []Object{{"type": "text", "modality": "text", "raw": raw}} }

// Message is the payload of an operator's text.
func Message(id, text string) Object {
	return Object{"operation": "message", "request_id": id, "content": Text(text)}
}

// Approved is Message whose run asks nobody.
func Approved(id, text string) Object { return With(Message(id, text), "options", Mode("approve")) }

// Mode is the options that set a confirmation mode.
func Mode(m string) Object { return Object{"confirmation": Object{"mode": m}} }

// Op is a payload or signal of an operation with members in pairs.
func Op(operation string, pairs ...any) Object { return With(Object{"operation": operation}, pairs...) }

// With is a copy of an object with further members in pairs.
func With(o Object, pairs ...any) Object {
	out := make(Object, len(o)+len(pairs)/2)
	for k, v := range o {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// Payload sends data in a payload envelope.
func (r *Rig) Payload(data any) {
	r.T.Helper()
	if err := r.Hub.Payload(data); err != nil {
		r.T.Fatal(err)
	}
}

// Signal sends data in a signal envelope.
func (r *Rig) Signal(data any) {
	r.T.Helper()
	if err := r.Hub.Signal(data); err != nil {
		r.T.Fatal(err)
	}
}

// Next gives the next event.
func (r *Rig) Next() fakehub.Event {
	r.T.Helper()
	e, err := r.Hub.Next(Deadline(r.T))
	if err != nil {
		r.T.Fatalf("no further event: %v", err)
	}
	return e
}

// Expect gives the next event, which must be of that name.
func (r *Rig) Expect(name string) fakehub.Event {
	r.T.Helper()
	e := r.Next()
	if e.Name != name {
		r.T.Fatalf("event %.2000s, want %s", e.Raw, name)
	}
	return e
}

// Until gives the events up to the first of that name, which is the last of them.
func (r *Rig) Until(name string) []fakehub.Event {
	r.T.Helper()
	for out := []fakehub.Event(nil); ; {
		out = append(out, r.Next())
		if out[len(out)-1].Name == name {
			return out
		}
	}
}

// Finished waits for the end of a run and gives that event.
func (r *Rig) Finished() fakehub.Event {
	r.T.Helper()
	events := r.Until("run_finished")
	return events[len(events)-1]
}

// Completes waits for the end of a run, which must have completed.
func (r *Rig) Completes() fakehub.Event {
	r.T.Helper()
	e := r.Finished()
	if e.Field("status") != "completed" {
		r.T.Fatalf("the run did not complete: %.2000s", e.Data)
	}
	return e
}

// Rejected waits for an input_rejected.
func (r *Rig) Rejected() fakehub.Event {
	r.T.Helper()
	events := r.Until("input_rejected")
	return events[len(events)-1]
}

// Status asks for the status and waits for it.
func (r *Rig) Status() fakehub.Event {
	r.T.Helper()
	r.Signal(Op("status"))
	events := r.Until("status")
	return events[len(events)-1]
}

// Asked waits for the next confirmation.
func (r *Rig) Asked() *fakehub.Confirmation {
	r.T.Helper()
	c, err := r.Hub.Asked(Deadline(r.T))
	if err != nil {
		r.T.Fatalf("no confirmation was asked for: %v", err)
	}
	return c
}

// Into decodes the data of an event.
func (r *Rig) Into(e fakehub.Event, v any) {
	r.T.Helper()
	if err := json.Unmarshal(e.Data, v); err != nil {
		r.T.Fatalf("%s: %v", e.Name, err)
	}
}

// Number is the integer at a path in the data; it must be there.
func (r *Rig) Number(e fakehub.Event, path ...string) int64 {
	r.T.Helper()
	var n int64
	if err := json.Unmarshal(e.Value(path...), &n); err != nil {
		r.T.Fatalf("%v of %.2000s: %v", path, e.Raw, err)
	}
	return n
}

// Label is the name of an event, with the boundary of a persisted one.
func Label(e fakehub.Event) string {
	if e.Name == "persisted" {
		return "persisted(" + e.Field("boundary") + ")"
	}
	return e.Name
}

// Labels are the labels of events in order.
func Labels(events []fakehub.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = Label(e)
	}
	return out
}
