package wire

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"

	"simplex/state"
)

// Input is a valid message, continue or compact (wire.md §3, worker-data.md §8.1).
type Input struct {
	Operation Operation
	RequestID string
	Content   []state.Content // of a message; never empty there
	Options   Options         // zero when the payload has none
}

// DecodeInput validates the data of a payload. The result is either an input or the
// data of input_rejected. Order of the checks: JSON, operation, request_id, members,
// content, options; a bad option has code invalid_options, the others have none.
//
// Whether the request id was used before is the caller's to ask.
func DecodeInput(data jsontext.Value) (*Input, *InputRejected) {
	f, err := readFields(data)
	if err != nil {
		return nil, NewInputRejected(nil, nil, "payload: "+err.Error(), "")
	}
	in, code, err := decodeInput(f)
	if err != nil {
		return nil, NewInputRejected(f["request_id"], f["operation"], err.Error(), code)
	}
	return in, nil
}

func decodeInput(f fields) (in *Input, code string, err error) {
	op, err := readOperation(f)
	if err != nil {
		return nil, "", err
	}
	if op != OpMessage && op != OpContinue && op != OpCompact {
		return nil, "", fmt.Errorf("operation: %q is not an input", clipWord(string(op)))
	}
	id, err := readRequestID(f)
	if err != nil {
		return nil, "", err
	}
	in = &Input{Operation: op, RequestID: id}
	if err := refuse(f, "text", "role", "invokes", "invoke_return", "type"); err != nil {
		return nil, "", err
	}
	if op == OpMessage {
		in.Content, err = readContent(f)
	} else {
		err = refuse(f, "content")
	}
	if err != nil {
		return nil, "", err
	}
	if in.Options, err = readOptions(f); err != nil {
		return nil, CodeInvalidOptions, err
	}
	return in, "", nil
}

func readOperation(f fields) (Operation, error) {
	if !f.has("operation") {
		return "", errors.New("operation: missing")
	}
	op, ok := f.text("operation")
	if !ok {
		return "", errors.New("operation: must be a string")
	}
	return Operation(op), nil
}

func readRequestID(f fields) (string, error) {
	if !f.has("request_id") {
		return "", errors.New("request_id: missing")
	}
	id, ok := f.text("request_id")
	if !ok {
		return "", errors.New("request_id: must be a string")
	}
	if id == "" || len(id) > MaxID {
		return "", fmt.Errorf("request_id: must have 1 to %d bytes", MaxID)
	}
	return id, nil
}

// refuse fails when one of the members is there, be it null.
func refuse(f fields, names ...string) error {
	for _, name := range names {
		if f.has(name) {
			return fmt.Errorf("%s: not allowed here", name)
		}
	}
	return nil
}

func readContent(f fields) ([]state.Content, error) {
	if !f.has("content") {
		return nil, errors.New("content: missing")
	}
	if f["content"].Kind() != '[' {
		return nil, errors.New("content: must be an array")
	}
	items, err := readItems(f["content"])
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if len(items) == 0 {
		return nil, errors.New("content: must not be empty")
	}
	parts := make([]state.Content, len(items))
	for i, raw := range items {
		if parts[i], err = readPart(raw); err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
	}
	return parts, nil
}

func readPart(raw jsontext.Value) (state.Content, error) {
	f, err := readFields(raw)
	if err != nil {
		return state.Content{}, err
	}
	typ, _ := f.text("type")
	modality, _ := f.text("modality")
	part := state.Content{Type: state.ContentType(typ), Modality: state.Modality(modality)}
	switch part.Type {
	case state.TypeText, state.TypeBinary, state.TypeExternalRef:
	default:
		return state.Content{}, errors.New("type: must be text, binary or external_ref")
	}
	switch part.Modality {
	case state.ModalityText, state.ModalityImage, state.ModalityAudio, state.ModalityVideo, state.ModalityDocument:
	default:
		return state.Content{}, errors.New("modality: must be text, image, audio, video or document")
	}
	if part.Raw, _ = f.text("raw"); part.Raw == "" {
		return state.Content{}, errors.New("raw: must be a nonempty string")
	}
	if f.has("extras") {
		var ok bool
		if part.Extras, ok = f.object("extras"); !ok {
			return state.Content{}, errors.New("extras: must be an object")
		}
	}
	return part, nil
}
