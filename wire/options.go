package wire

import (
	"errors"
	"fmt"

	"simplex/state"
)

// Options are the settings that came with an input, already validated as a whole as far
// as this package can: what the model category means is the provider's.
type Options struct {
	Model state.Object // unset when absent
	Mode  Mode         // "" when absent
}

// IsZero tells whether there is nothing to apply.
func (o Options) IsZero() bool { return !o.Model.IsSet() && o.Mode == "" }

// readOptions reads the `options` member; null anywhere and unknown keys are refused
// (worker-data.md §9, 14).
func readOptions(f fields) (Options, error) {
	var out Options
	if !f.has("options") {
		return out, nil
	}
	categories, err := readFields(f["options"])
	if err != nil {
		return out, fmt.Errorf("options: %w", err)
	}
	if err := onlyKeys(categories, "model", "tools", "confirmation"); err != nil {
		return out, fmt.Errorf("options: %w", err)
	}
	if categories.has("model") {
		var ok bool
		if out.Model, ok = categories.object("model"); !ok {
			return out, errors.New("options.model: must be an object")
		}
	}
	if categories.has("tools") {
		tools, err := readFields(categories["tools"])
		if err != nil || len(tools) > 0 {
			return out, errors.New("options.tools: must be an empty object")
		}
	}
	if categories.has("confirmation") {
		out.Mode, err = readMode(categories)
	}
	return out, err
}

func readMode(categories fields) (Mode, error) {
	f, err := readFields(categories["confirmation"])
	if err != nil {
		return "", fmt.Errorf("options.confirmation: %w", err)
	}
	if err := onlyKeys(f, "mode"); err != nil {
		return "", fmt.Errorf("options.confirmation: %w", err)
	}
	if !f.has("mode") {
		return "", nil
	}
	mode, _ := f.text("mode")
	if !Mode(mode).Valid() {
		return "", errors.New("options.confirmation.mode: must be ask, approve or deny")
	}
	return Mode(mode), nil
}

// onlyKeys fails on a member that is not named; the alphabetically first one is told.
func onlyKeys(f fields, names ...string) error {
	unknown := ""
	for key := range f {
		known := false
		for _, name := range names {
			known = known || key == name
		}
		if !known && (unknown == "" || key < unknown) {
			unknown = key
		}
		if !known && key == "" {
			return errors.New("unknown member with an empty name")
		}
	}
	if unknown != "" {
		return fmt.Errorf("unknown member %q", clipWord(unknown))
	}
	return nil
}
