package offline

import (
	"encoding/base64"
	"fmt"
	"maps"
)

// seal stands for the encryption of reasoning that a provider sends out.
func seal(thought string) string { return base64.StdEncoding.EncodeToString([]byte(thought)) }

// events builds the events of one Responses answer.
type events struct {
	o    outgoing
	out  []frame
	done []dict // the items, finished
}

// responsesFrames cuts an answer into the events in which a Responses server would send
// it.
func (o outgoing) responsesFrames() []frame {
	e := &events{o: o}
	if o.Flaw.EmptyFirst {
		e.add("response.queued", dict{}, false)
	}
	e.add("response.created", dict{"response": o.response("in_progress", nil)}, false)
	if o.Reasoning != "" {
		e.reasoning()
	}
	if o.Text != "" {
		e.message()
	}
	for i, c := range o.Calls {
		e.call(i, c)
	}
	if o.Flaw.Fault != "" {
		e.add("error", dict{"error": o.fault()}, false)
	}
	if !o.Flaw.NoEnd {
		e.end()
	}
	return e.out
}

func (e *events) add(name string, members dict, content bool) {
	data := dict{"type": name, "sequence_number": len(e.out)}
	maps.Copy(data, members)
	e.out = append(e.out, frame{name: name, data: data, content: content})
}

// index is the place of the item that comes next, as the flaw has it.
func (e *events) index(members dict) dict {
	switch e.o.Flaw.Index {
	case IndexNone:
	case IndexZero:
		members["output_index"] = 0
	default:
		members["output_index"] = len(e.done)
	}
	return members
}

func (e *events) begin(item dict) {
	e.add("response.output_item.added", e.index(dict{"item": item}), false)
}

func (e *events) finish(item dict) {
	e.add("response.output_item.done", e.index(dict{"item": item}), false)
	e.done = append(e.done, item)
}

func (e *events) id(kind string) string {
	return fmt.Sprintf("%s_offline_%d_%d", kind, e.o.n+1, len(e.done))
}

func (e *events) deltas(name, id, text string) {
	for _, piece := range pieces(text) {
		e.add(name, e.index(dict{"item_id": id, "delta": piece}), true)
	}
}

func (e *events) reasoning() {
	id := e.id("rs")
	e.begin(dict{"type": "reasoning", "id": id, "summary": []dict{}})
	e.deltas("response.reasoning_summary_text.delta", id, e.o.Reasoning)
	e.finish(dict{
		"type": "reasoning", "id": id, "encrypted_content": seal(e.o.Reasoning),
		"summary": []dict{{"type": "summary_text", "text": e.o.Reasoning}},
	})
}

func (e *events) message() {
	id := e.id("msg")
	e.begin(dict{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []dict{}})
	e.deltas("response.output_text.delta", id, e.o.Text)
	if e.o.Flaw.Fault == "" {
		e.finish(dict{
			"type": "message", "id": id, "role": "assistant", "status": "completed",
			"content": []dict{{"type": "output_text", "text": e.o.Text, "annotations": []dict{}}},
		})
	}
}

func (e *events) call(i int, c Call) {
	id := e.id("fc")
	item := dict{"type": "function_call", "id": id, "call_id": c.ID, "name": c.Name, "arguments": "", "status": "in_progress"}
	e.begin(maps.Clone(item))
	e.deltas("response.function_call_arguments.delta", id, c.Arguments)
	if e.o.Finish == "length" && i+1 == len(e.o.Calls) {
		return
	}
	item["arguments"], item["status"] = c.Arguments, "completed"
	e.finish(item)
}

// end is the terminal event that says what the finish_reason says.
func (e *events) end() {
	reason := ""
	switch e.o.finish() {
	case "stop", "tool_calls", "function_call":
		e.add("response.completed", dict{"response": e.o.response("completed", e.done)}, false)
		return
	case "length":
		reason = "max_output_tokens"
	default:
		reason = e.o.Finish
	}
	response := e.o.response("incomplete", e.done)
	response["incomplete_details"] = dict{"reason": reason}
	e.add("response.incomplete", dict{"response": response}, false)
}

func (o outgoing) response(status string, items []dict) dict {
	if items == nil {
		items = []dict{}
	}
	out := dict{
		"id": fmt.Sprintf("resp_offline_%d", o.n+1), "object": "response", "created_at": 0,
		"model": o.req.Model, "status": status, "output": items,
	}
	if status != "in_progress" {
		prompt, generated, cached := o.usage()
		out["usage"] = dict{
			"input_tokens": prompt, "output_tokens": generated, "total_tokens": prompt + generated,
			"input_tokens_details": dict{"cached_tokens": cached},
		}
	}
	return out
}
