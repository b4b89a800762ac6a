package qwen

import (
	"simplex/llm"
	"simplex/state"
)

// Bands of thinking_budget, in tokens, that are shown as an effort.
const (
	lowBand    = 4096
	mediumBand = 16384
)

// show reads an option the way it counts: defaults of the family included.
func show(settings state.Object, name string) (state.Value, bool) {
	known := family(settings) != ""
	switch name {
	case "enable_thinking":
		v, set := llm.ShowSetting(settings, name)
		if !set && !known {
			return v, false
		}
		word := "enabled"
		if v == state.BoolValue(false) {
			word = "disabled"
		}
		return state.StringValue(word), true
	case "reasoning_effort":
		return showEffort(settings, known)
	}
	return llm.ShowSetting(settings, name)
}

func showEffort(settings state.Object, known bool) (state.Value, bool) {
	if v, set := llm.ShowSetting(settings, "reasoning_effort"); set {
		if known {
			v = familyEffort(v)
		}
		return v, true
	}
	if n, set := budget(settings); set {
		return state.StringValue(band(n)), true
	}
	return state.StringValue("xhigh"), known
}

func band(tokens int) string {
	switch {
	case tokens <= lowBand:
		return "low"
	case tokens <= mediumBand:
		return "medium"
	}
	return "xhigh"
}

// patch turns a choice into settings: the switch is a boolean, and an effort takes the
// place of a budget.
func patch(choice state.Object) state.Object {
	if v, chosen := choice.Get("enable_thinking"); chosen {
		word, _ := v.Text()
		choice = choice.With("enable_thinking", state.BoolValue(word == "enabled"))
	}
	if _, chosen := choice.Get("reasoning_effort"); chosen {
		choice = choice.With("thinking_budget", state.NullValue())
	}
	return choice
}
