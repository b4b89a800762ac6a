package qwen

import (
	"fmt"
	"strconv"

	"simplex/llm"
	"simplex/state"
)

// maxBudget is the largest thinking_budget, in tokens.
const maxBudget = 262144

const notTaken = "is not taken by this model's API"

// refused tells what of the settings makes no request (§6.7).
func refused(body state.Object) error {
	for _, name := range []string{"extra_body", "thinking", "audio"} {
		if has(body, name) {
			return llm.BadSetting(name, notTaken)
		}
	}
	if has(body, "reasoning") { // an object has become reasoning_effort before
		return llm.BadSetting("reasoning", "must be an object")
	}
	if has(body, "reasoning_effort") && has(body, "thinking_budget") {
		return llm.BadSetting("thinking_budget", "and reasoning_effort exclude each other")
	}
	for _, name := range []string{"enable_thinking", "preserve_thinking", "tool_stream"} {
		v, _ := body.Get(name)
		if has(body, name) && v != state.BoolValue(true) && v != state.BoolValue(false) {
			return llm.BadSetting(name, "must be true or false")
		}
	}
	if v, _ := body.Get("modalities"); has(body, "modalities") && v.String() != `["text"]` {
		return llm.BadSetting("modalities", `other than ["text"] `+notTaken)
	}
	v, _ := body.Get("tool_choice")
	if word, _ := v.Text(); word == "required" {
		return llm.BadSetting("tool_choice", `"required" `+notTaken)
	}
	return nil
}

func checkBudget(body state.Object) error {
	if !has(body, "thinking_budget") {
		return nil
	}
	if _, ok := budget(body); !ok {
		return llm.BadSetting("thinking_budget", fmt.Sprintf("must be an integer from 0 to %d", maxBudget))
	}
	return nil
}

// budget gives thinking_budget if it is one.
func budget(settings state.Object) (int, bool) {
	v, _ := settings.Get("thinking_budget")
	n, err := strconv.Atoi(v.String())
	return n, err == nil && n >= 0 && n <= maxBudget
}
