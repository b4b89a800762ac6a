package loop

import (
	"context"
	"errors"
	"log/slog"

	"simplex/hooks"
	"simplex/state"
)

// Model makes one exchange with the driver model. conv is a snapshot that ends with
// what the model shall answer. The message returned must be complete, and belongs to
// the loop afterwards. A cancelled ctx ends the exchange with an error that wraps
// context.Canceled.
type Model interface {
	Exchange(ctx context.Context, conv *state.State) (*state.Message, error)
}

// Tools routes calls to tools.
//
// Prepare is called in call order on the loop's goroutine. It settles a call
// (scheduling class, security, normalised arguments) and gives the function that
// makes its one record; a bad call gives one that makes the error record. confirm
// asks the operator. The functions may run concurrently with each other; they are
// not cancelled when the run is.
type Tools interface {
	Prepare(call state.Call, confirm func(context.Context, state.Call) (bool, string)) (settled state.Call, run func(context.Context) state.Result)
}

// Config is what one run is made with.
type Config struct {
	Model   Model                                                            // needed
	Tools   Tools                                                            // nil: every call is answered with a dispatch failure
	Confirm func(context.Context, state.Call) (approved bool, reason string) // nil: everything is denied
	Hooks   *hooks.Registry                                                  // nil: nobody listens

	MaxExchanges uint64 // model responses in this run; 0 is an error
	Threshold    uint64 // tokens of one exchange above which compaction is wanted; 0: off

	StepExtras state.Object // put on every step appended
	TurnExtras state.Object // put on the turn of the input

	Logger *slog.Logger // nil: discarded
}

// Stage says where a failed run failed.
type Stage string

// The failure stages of worker-data.md §3.2.
const (
	StageModelRequest Stage = "model_request" // the provider call itself
	StageOther        Stage = "other"
)

// The reasons of StatusAutoCompactRequired.
const (
	ReasonTokenThreshold = "token_threshold"
	ReasonExchangeLimit  = "exchange_limit"
)

// Errors of the entry checks that a caller tells apart.
var (
	// ErrRecoveryRequired: a batch was cut short and nobody knows what its tools did.
	ErrRecoveryRequired = errors.New("recovery required: the last tool batch was interrupted")
	// ErrNothingToContinue: no input and no turn.
	ErrNothingToContinue = errors.New("nothing to continue: the conversation is empty")
)

// Outcome is how a run ended.
type Outcome struct {
	// Status is never idle or running.
	Status state.LoopStatus
	// Admitted tells that the entry checks passed and RunStarted was told. When false
	// the state is as it was, except that stored tool results may have been projected.
	Admitted bool
	Err      error  // why Status is failed; nil otherwise
	Stage    Stage  // set exactly when Status is failed
	Reason   string // set exactly when Status is auto_compact_required
	// Exchanges counts the responses integrated in this run.
	Exchanges uint64
	// LastTokens is prompt + generated of the last response; nil when unknown.
	LastTokens *uint64
}

// Run takes the conversation to the end of one run (worker-data.md §3.2). A nil input
// continues what is there. Cancelling ctx asks the run to stop: a model exchange is
// aborted, a tool batch under way is finished first (§3.6).
//
// Run changes the fields of st and nothing that can be reached through them; st and
// input belong to it until it returns. It may be called again with the same st,
// whatever the outcome was. Failures of the model, tools and hooks are in the Outcome
// and in st.Loop.
func Run(ctx context.Context, st *state.State, input *state.Message, cfg Config) Outcome {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if out, ok := enter(ctx, st, input, cfg); !ok {
		return out
	}
	r := &run{ctx: ctx, calm: context.WithoutCancel(ctx), st: st, cfg: cfg}
	v := r.admit(input)
	for v == nil {
		v = r.exchange()
	}
	return r.end(*v)
}
