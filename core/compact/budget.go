package compact

import (
	"errors"
	"fmt"

	"simplex/internal/text"
	"simplex/state"
)

const (
	// ContextBudget is the most bytes that a compacted context may have (worker-data.md §4.3).
	ContextBudget = 64 << 10
	// SummaryBudget is the most bytes of a summary.
	SummaryBudget = 32 << 10

	bytesPerToken = 4 // the estimate of worker-data.md §1.11
)

// Why a compaction is refused. The error that wraps one of them has the numbers.
var (
	ErrNoPersistence = errors.New("compaction needs persistence")
	ErrPhase         = errors.New("compaction needs a conversation at rest")
	ErrNothing       = errors.New("there is no turn to compact")
	ErrFixed         = errors.New("the system prompt and the tools alone exceed the context budget")
	ErrToolCall      = errors.New("the model called a tool instead of summarising")
	ErrBlank         = errors.New("the summary is blank")
	ErrLong          = errors.New("the summary is too long")
	ErrNotUTF8       = errors.New("the summary is no UTF-8")
	ErrLarge         = errors.New("the compacted context is too large")
	ErrLittle        = errors.New("compaction would save too little")
)

// Budget is the most bytes that a context may have after compaction, for a model window of
// that many tokens: ContextBudget or three quarters of the window, whichever is less, at
// four bytes a token. Otherwise the next exchange would overflow again.
func Budget(windowTokens uint64) int {
	tokens := windowTokens/4*3 + windowTokens%4*3/4
	return int(min(tokens, ContextBudget/bytesPerToken)) * bytesPerToken
}

// ContextBytes is the size measure of worker-data.md §4.5: the rendered prompt, the compact
// JSON of the tools and that of each turn; a byte that is no UTF-8 counts as its
// replacement. Its cost follows the history.
func ContextBytes(st *state.State) (int, error) {
	size, err := standingBytes(st.SystemPrompt, st.Tools)
	if err != nil {
		return 0, err
	}
	for _, t := range st.Turns {
		size += t.CompactSize()
	}
	return size, nil
}

// standingBytes is the measure without turns.
func standingBytes(prompt state.SystemPrompt, tools []state.Tool) (int, error) {
	rendered, err := prompt.Render()
	if err != nil {
		return 0, fmt.Errorf("system prompt: %w", err)
	}
	return len(text.ToValid(rendered)) + state.ToolsCompactSize(tools), nil
}
