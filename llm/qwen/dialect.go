package qwen

import (
	"strings"

	"simplex/llm"
	"simplex/llm/chat"
	"simplex/state"
)

// The families of models whose settings are known, by the name of their first member.
const (
	flash = "qwen3.8-flash"
	most  = "qwen3.8-max"
)

// Dialect is Qwen.
func Dialect() chat.Dialect {
	return chat.Dialect{
		Endpoint: llm.Endpoint{
			BaseURL:     "https://maas.qianwenaiapi.com",
			RequestPath: "/compatible-mode/v1/chat/completions",
			UserAgent:   "simplex-cpp/qwen",
		},
		Options: []llm.Option{
			{Name: "model", Options: []string{flash, most}},
			{Name: "enable_thinking", Options: []string{"enabled", "disabled"}},
			{Name: "reasoning_effort", Options: []string{"low", "medium", "xhigh"}},
		},
		Show:             show,
		Patch:            patch,
		ReplaysReasoning: func(body state.Object) bool { return isTrue(body, "preserve_thinking") },
		Transform:        transform,
	}
}

// family gives the family that a model belongs to, "" for none: the exact name, or
// that name with a suffix behind a dash.
func family(settings state.Object) string {
	v, _ := settings.Get("model")
	model, _ := v.Text()
	for _, name := range []string{flash, most} {
		if model == name || strings.HasPrefix(model, name+"-") {
			return name
		}
	}
	return ""
}

// transform applies the rules of §6.7 to the settings part of a body.
func transform(body state.Object) (state.Object, error) {
	if err := refused(body); err != nil {
		return state.Object{}, err
	}
	body = body.Without("n")
	name := family(body)
	if name == "" {
		return body, nil
	}
	if err := checkBudget(body); err != nil {
		return state.Object{}, err
	}
	if effort, _ := body.Get("reasoning_effort"); !effort.IsNull() {
		body = body.With("reasoning_effort", familyEffort(effort))
	} else if !has(body, "thinking_budget") {
		body = body.With("reasoning_effort", state.StringValue("xhigh"))
	}
	if !has(body, "enable_thinking") {
		body = body.With("enable_thinking", state.BoolValue(true))
	}
	if !has(body, "preserve_thinking") {
		body = body.With("preserve_thinking", state.BoolValue(name == most))
	}
	return body, nil
}

// familyEffort brings the words of other providers into the family's own.
func familyEffort(effort state.Value) state.Value {
	if word, _ := effort.Text(); word == "high" || word == "max" {
		return state.StringValue("xhigh")
	}
	return effort
}

func has(body state.Object, name string) bool {
	v, _ := body.Get(name)
	return !v.IsNull()
}

func isTrue(body state.Object, name string) bool {
	v, _ := body.Get(name)
	return v == state.BoolValue(true)
}
