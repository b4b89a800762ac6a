package qwen

import (
	"errors"
	"fmt"
	"strconv"

	"simplex/state"
)

// maxBudget is the largest thinking_budget, in tokens.
const maxBudget = 262144

var (
	errRefused = errors.New("this model's API does not take it")
	errBoth    = errors.New("config.reasoning_effort and config.thinking_budget exclude each other")
	errBudget  = fmt.Errorf("config.thinking_budget must be an integer from 0 to %d", maxBudget)
)

// refused tells what of the settings makes no request (§6.7).
func refused(body state.Object) error {
	for _, name := range []string{"extra_body", "thinking", "audio"} {
		if has(body, name) {
			return fmt.Errorf("config.%s: %w", name, errRefused)
		}
	}
	if has(body, "reasoning") { // an object has become reasoning_effort before
		return errors.New("config.reasoning must be an object")
	}
	if has(body, "reasoning_effort") && has(body, "thinking_budget") {
		return errBoth
	}
	for _, name := range []string{"enable_thinking", "preserve_thinking", "tool_stream"} {
		v, _ := body.Get(name)
		if has(body, name) && v != state.BoolValue(true) && v != state.BoolValue(false) {
			return fmt.Errorf("config.%s must be true or false", name)
		}
	}
	if v, _ := body.Get("modalities"); has(body, "modalities") && v.String() != `["text"]` {
		return fmt.Errorf(`config.modalities other than ["text"]: %w`, errRefused)
	}
	v, _ := body.Get("tool_choice")
	if word, _ := v.Text(); word == "required" {
		return fmt.Errorf(`config.tool_choice "required": %w`, errRefused)
	}
	return nil
}

func checkBudget(body state.Object) error {
	if !has(body, "thinking_budget") {
		return nil
	}
	if _, ok := budget(body); !ok {
		return errBudget
	}
	return nil
}

// budget gives thinking_budget if it is one.
func budget(settings state.Object) (int, bool) {
	v, _ := settings.Get("thinking_budget")
	n, err := strconv.Atoi(v.String())
	return n, err == nil && n >= 0 && n <= maxBudget
}
