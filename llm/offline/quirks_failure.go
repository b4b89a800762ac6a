package offline

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// failureQuirks are the ways in which servers say that there is no answer.
func failureQuirks() []scenario {
	quota := `{"code":429,"message":"quota exceeded"}`
	return []scenario{
		{Scenario: Scenario{"error-first", "HTTP 200 and an error object (429) instead of the answer"}, play: func(*Server, *request, string) Reply {
			return Reply{Flaw: Flaw{Fault: quota, NoEnd: true}}
		}},
		{Scenario: Scenario{"error-later", "an error object in the middle of the text"}, play: func(*Server, *request, string) Reply {
			return Reply{Text: sentence, Flaw: Flaw{Fault: fault("server_error", "", "the backend was lost"), NoEnd: true}}
		}},
		{Scenario: Scenario{"error-plain", "HTTP 200 and a plain JSON error, no stream"}, play: func(*Server, *request, string) Reply {
			return Reply{Header: map[string]string{"Content-Type": "application/json"}, Body: `{"error":` + fault("invalid_request_error", "", "the key has expired") + `}`}
		}},
		{Scenario: Scenario{"retry-after:VALUE", "HTTP 429 with that Retry-After (1; date: in 3 s), then the answer"}, fits: isHeader, play: limited(http.StatusTooManyRequests)},
		{Scenario: Scenario{"busy:VALUE", "the same with HTTP 503"}, fits: isHeader, play: limited(http.StatusServiceUnavailable)},
		{Scenario: Scenario{"cut-empty", "finish_reason length with reasoning alone"}, play: func(*Server, *request, string) Reply {
			return Reply{Reasoning: "I think and think", Finish: "length"}
		}},
		{Scenario: Scenario{"cut-call", "finish_reason length in the middle of a call's arguments"}, play: func(_ *Server, r *request, _ string) Reply {
			calls := r.commands([]string{"rm -rf important"})
			calls[0].Arguments = calls[0].Arguments[:20]
			return Reply{Calls: calls, Finish: "length"}
		}},
		{Scenario: Scenario{"filtered", "finish_reason content_filter and no text"}, play: func(*Server, *request, string) Reply {
			return Reply{Finish: "content_filter"}
		}},
		{
			Scenario: Scenario{"finish:WORD", "ends with any finish_reason (eos)"}, fits: func(string) bool { return true },
			play: func(_ *Server, _ *request, arg string) Reply { return Reply{Text: sentence, Finish: or(arg, "eos")} },
		},
		{
			Scenario: Scenario{"overflow:KIND", "answers once, then refuses the conversation as too long until it is compacted: code, words, long or stream"},
			fits: func(arg string) bool {
				return arg == "" || slices.Contains([]string{"code", "words", "long", "stream"}, arg)
			},
			play: func(_ *Server, r *request, arg string) Reply { return r.overflow(arg) },
		},
	}
}

func or(arg, otherwise string) string {
	if arg == "" {
		return otherwise
	}
	return arg
}

// isHeader tells whether a word can stand in a header.
func isHeader(arg string) bool {
	return !strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' || r > '~' })
}

// limited refuses the first try of a request.
func limited(status int) func(*Server, *request, string) Reply {
	return func(_ *Server, r *request, arg string) Reply {
		if r.tries > 0 {
			return Reply{Text: "Thank you for waiting."}
		}
		value := or(arg, "1")
		if value == "date" {
			value = time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat)
		}
		out := refusal(status, "rate_limit_error", "", "slow down")
		out.Header["Retry-After"] = value
		return out
	}
}

// overflow refuses a conversation that has an answer in it, except the one that asks
// for a summary.
func (r *request) overflow(kind string) Reply {
	if strings.Contains(r.lastUser(), "replaced by a summary") {
		return Reply{Text: "The operator wanted to see how a full context window is handled. Nothing is left to be done."}
	}
	if r.count("assistant") == 0 {
		return Reply{Text: "The context window is full with this. Whatever you say next is too much."}
	}
	code, words := "", "This model's maximum context length is 32768 tokens. However, your messages resulted in 32769 tokens."
	switch kind {
	case "", "code":
		code, words = "context_length_exceeded", "Your input is more than this model takes."
	case "long":
		words = "prompt is too long: 210000 tokens > 200000 maximum"
	case "stream":
		return Reply{Flaw: Flaw{Fault: fault("invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model."), NoEnd: true}}
	}
	return refusal(http.StatusBadRequest, "invalid_request_error", code, words)
}
