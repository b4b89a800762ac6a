package llm

import (
	"context"

	"simplex/state"
)

// Provider turns a conversation into one model response. Exchange may be called from
// several goroutines at once; so may the other methods.
type Provider interface {
	// Exchange sends the conversation and returns the response, of type
	// state.ModelResponse, complete and with call ids that are unique in the
	// conversation. Failures are *Error, or wrap the context's error when cancelled.
	Exchange(ctx context.Context, req Request) (*state.Message, error)
	// Options tells what can be changed at run time, and how it stands now.
	Options() OptionSet
	// SetOptions applies a choice among the advertised names and values, all of it
	// or nothing. A refused choice is ErrInvalidOption.
	SetOptions(o state.Object) error
	// Name is the configured name of the instance.
	Name() string
	// Close ends what the provider holds open. No exchange may be running.
	Close() error
}

// Request is one exchange. State is read, never changed; its records are kept by
// pointer to reuse their encoding in later exchanges.
type Request struct {
	State *state.State
	Delta func(Delta) // nil: not wanted; called on the exchange's goroutine as text arrives
}

// Kinds of Delta.
const (
	DeltaText      = "text"      // visible answer text
	DeltaReasoning = "reasoning" // the model's thinking
	DeltaRestart   = "restart"   // the try failed and is repeated: forget the deltas of this exchange so far
)

// Delta is a piece of the response as it arrives. Pieces are for display only: the
// exchange may still fail.
type Delta struct {
	Kind string
	Text string
}

// Option is a setting that can be changed at run time and the values it takes.
type Option struct {
	Name    string   `json:"name"`
	Options []string `json:"options"`
}

// OptionSet is what a provider advertises. Current holds only options that have a value.
type OptionSet struct {
	Available []Option     `json:"available"`
	Current   state.Object `json:"current"`
}
