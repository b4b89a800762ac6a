package adapter

import (
	"encoding/json/jsontext"
	"encoding/json/v2"

	"simplex/state"
	"simplex/wire"
)

// Input is what an operator asks of a worker: a message when it has content, else the
// operation named (hub.md §3.2).
type Input struct {
	Operation wire.Operation // message, continue or compact
	RequestID string         // 1 to 128 bytes, new for every input
	Content   []state.Content
	Mode      wire.Mode // "" leaves the confirmation mode as it is
}

type inputData struct {
	Operation wire.Operation  `json:"operation"`
	RequestID string          `json:"request_id"`
	Content   []state.Content `json:"content,omitempty"`
	Options   *inputOptions   `json:"options,omitempty"`
}

type inputOptions struct {
	Confirmation confirmationMode `json:"confirmation"`
}

type confirmationMode struct {
	Mode wire.Mode `json:"mode"`
}

// Encode is the frame of the payload.
func (in Input) Encode() ([]byte, error) {
	data := inputData{Operation: in.Operation, RequestID: in.RequestID, Content: in.Content}
	if in.Mode != "" {
		data.Options = &inputOptions{confirmationMode{in.Mode}}
	}
	return envelope(wire.FramePayload, data)
}

// Signal is the frame of a signal without fields of its own: status, options, shutdown.
func Signal(op wire.Operation) []byte {
	raw, _ := envelope(wire.FrameSignal, map[string]wire.Operation{"operation": op})
	return raw
}

// Stream is the frame that asks for model_delta events.
func Stream() []byte {
	raw, _ := envelope(wire.FrameSignal, map[string]any{"operation": wire.OpStream, "enabled": true})
	return raw
}

// Answer is the frame that asks for one page of an answer; source is what an event or a
// history page named, verbatim.
func Answer(requestID string, source jsontext.Value, part, offset uint64) []byte {
	raw, _ := envelope(wire.FramePayload, map[string]any{
		"operation": wire.OpAnswer, "request_id": requestID, "source": source, "part": part, "offset": offset,
	})
	return raw
}

// Cancel is the frame that cancels the run of that id.
func Cancel(runID string) []byte {
	raw, _ := envelope(wire.FrameSignal, map[string]string{"operation": string(wire.OpCancel), "run_id": runID})
	return raw
}

func envelope(kind wire.FrameKind, data any) ([]byte, error) {
	raw, err := json.Marshal(data, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Type wire.FrameKind `json:"type"`
		Data jsontext.Value `json:"data"`
	}{kind, raw})
}
