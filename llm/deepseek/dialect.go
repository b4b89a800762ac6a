package deepseek

import (
	"simplex/llm"
	"simplex/llm/chat"
	"simplex/state"
)

func errThinking() error {
	return llm.BadSetting("thinking", "must be true, false, enabled, disabled or an object with a type")
}

// Dialect is DeepSeek: it wants the reasoning of earlier answers back, knows no n and
// no penalties, and switches thinking by an object.
func Dialect() chat.Dialect {
	return chat.Dialect{
		Endpoint: llm.Endpoint{
			BaseURL:     "https://api.deepseek.com",
			RequestPath: "/chat/completions",
			UserAgent:   "simplex-cpp/deepseek",
		},
		Options: []llm.Option{
			{Name: "model", Options: []string{"deepseek-flash", "deepseek-v4-pro"}},
			{Name: "reasoning_effort", Options: []string{"low", "high", "max"}},
		},
		CacheHits:        "prompt_cache_hit_tokens",
		ReplaysReasoning: func(state.Object) bool { return true },
		Transform:        transform,
	}
}

func transform(body state.Object) (state.Object, error) {
	for _, name := range []string{"n", "frequency_penalty", "presence_penalty"} {
		body = body.Without(name)
	}
	effort, _ := body.Get("reasoning_effort")
	word, _ := effort.Text()
	off := word == "none" || word == "minimal"
	if off {
		body = body.Without("reasoning_effort")
	}
	given, _ := body.Get("thinking")
	if isNative(given) {
		return body, nil
	}
	on, known := wanted(given)
	switch {
	case off:
		on, known = false, true
	case given.IsNull():
		on, known = true, word != ""
	case !known:
		return state.Object{}, errThinking()
	}
	if !known {
		return body.Without("thinking"), nil // nothing was asked for: the model's own default
	}
	kind := "disabled"
	if on {
		kind = "enabled"
	}
	thinking := state.ObjectFrom([]state.Member{{Name: "type", Value: state.StringValue(kind)}})
	return body.With("thinking", thinking.Value), nil
}

// isNative tells whether thinking is in the API's own form already.
func isNative(v state.Value) bool {
	o, err := v.Object()
	if err != nil {
		return false
	}
	kind, ok := o.Get("type")
	_, isText := kind.Text()
	return ok && isText
}

// wanted reads the short forms of thinking.
func wanted(v state.Value) (on, known bool) {
	if word, isText := v.Text(); isText {
		return word == "enabled", word == "enabled" || word == "disabled"
	}
	on = v.String() == "true"
	return on, on || v.String() == "false"
}
