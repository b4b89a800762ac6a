package llm

import (
	"fmt"
	"slices"
	"strings"

	"simplex/state"
)

// CheckChoice refuses a choice that is not wholly made of advertised names and values (§6.8).
func CheckChoice(choice state.Object, available []Option) error {
	if !choice.IsSet() {
		return fmt.Errorf("%w: not an object", ErrInvalidOption)
	}
	for _, m := range choice.Members() {
		i := slices.IndexFunc(available, func(o Option) bool { return o.Name == m.Name })
		if i < 0 {
			return fmt.Errorf("%w: %q is not an option of this model", ErrInvalidOption, m.Name)
		}
		value, isText := m.Value.Text()
		if !isText || !slices.Contains(available[i].Options, value) {
			return fmt.Errorf("%w: %s must be one of %s", ErrInvalidOption, m.Name, strings.Join(available[i].Options, ", "))
		}
	}
	return nil
}

// PatchSettings applies an RFC 7386 merge patch to generation settings (§6.8): what
// belongs to the transport cannot be set, and the model stays a nonempty string.
func PatchSettings(settings, patch state.Object) (state.Object, error) {
	for _, name := range []string{"endpoint", "provider", "retry"} {
		if _, has := patch.Get(name); has {
			return state.Object{}, fmt.Errorf("%w: %s cannot be changed", ErrInvalidOption, name)
		}
	}
	merged, err := mergePatch(settings.Value, patch.Value).Object()
	if err != nil {
		return state.Object{}, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	model, _ := merged.Get("model")
	if name, isText := model.Text(); !isText || name == "" {
		return state.Object{}, fmt.Errorf("%w: model must be a nonempty string", ErrInvalidOption)
	}
	return merged, nil
}

// mergePatch is RFC 7386: null removes, objects merge, anything else replaces.
func mergePatch(target, patch state.Value) state.Value {
	p, err := patch.Object()
	if err != nil {
		return patch
	}
	t, err := target.Object()
	if err != nil {
		t = state.EmptyObject()
	}
	for _, m := range p.Members() {
		if m.Value.IsNull() {
			t = t.Without(m.Name)
			continue
		}
		old, _ := t.Get(m.Name)
		t = t.With(m.Name, mergePatch(old, m.Value))
	}
	return t.Value
}
