package wire

import (
	"encoding/json/jsontext"

	"simplex/state"
)

// Status is the data of `ready` and `status` (wire.md §5).
type Status struct {
	Active              bool            `json:"active"`
	Stopping            bool            `json:"stopping"`
	StorageFailed       bool            `json:"storage_failed"`
	RejectedPayloads    uint64          `json:"rejected_payloads"`
	RejectedQueries     uint64          `json:"rejected_queries"`
	UnreportedRejection uint64          `json:"unreported_rejections"`
	EventQueue          EventQueue      `json:"event_queue"`
	MemoryRetention     MemoryRetention `json:"memory_retention"`
	Capabilities        []string        `json:"capabilities"`
	AutoCompact         *AutoCompact    `json:"auto_compact,omitzero"`
	Loop                jsontext.Value  `json:"loop,omitzero"` // a display copy: display.Loop
}

// EventQueue is how much waits in the outbox and behind it.
type EventQueue struct {
	Count          int `json:"count"`
	Bytes          int `json:"bytes"`
	TransportBytes int `json:"transport_bytes"` // the write in flight included
}

// MemoryRetention is the archive rule in force.
type MemoryRetention struct {
	MaxArchives int `json:"max_archives"` // 0: all are kept
}

// AutoCompact counts the automatic compactions of the current request.
type AutoCompact struct {
	Attempts  uint64 `json:"attempts"`
	Succeeded uint64 `json:"succeeded"`
	Limit     uint64 `json:"limit"`
	Threshold uint64 `json:"threshold"`
}

// OptionsData is the data of `options`.
type OptionsData struct {
	Model        OptionCategory `json:"model"`
	Tools        OptionCategory `json:"tools"`
	Confirmation OptionCategory `json:"confirmation"`
}

// OptionCategory is what may be chosen and what is.
type OptionCategory struct {
	Available []OptionChoice `json:"available"`
	Current   OptionValues   `json:"current"`
}

// OptionChoice is one setting and its values.
type OptionChoice struct {
	Name    string   `json:"name"`
	Options []string `json:"options"`
}

// OptionValues is an object; unset is written as {}.
type OptionValues struct{ state.Object }

// MarshalJSONTo writes the object.
func (o OptionValues) MarshalJSONTo(enc *jsontext.Encoder) error {
	if !o.IsSet() {
		return state.EmptyObject().MarshalJSONTo(enc)
	}
	return o.Object.MarshalJSONTo(enc)
}

// ConfirmationOptions is the confirmation category with this mode in force.
func ConfirmationOptions(mode Mode) OptionCategory {
	current := state.ObjectFrom([]state.Member{{Name: "mode", Value: state.StringValue(string(mode))}})
	return OptionCategory{
		Available: []OptionChoice{{Name: "mode", Options: []string{string(ModeAsk), string(ModeApprove), string(ModeDeny)}}},
		Current:   OptionValues{current},
	}
}
