package llm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"simplex/state"
)

// Settings are a provider's generation settings while it runs: read by exchanges,
// changed by options. They may be used by several goroutines at once.
type Settings struct {
	rules SettingRules
	mu    sync.Mutex
	now   state.Object
}

// SettingRules say what can be chosen and how it shows in the settings.
type SettingRules struct {
	Options []Option // advertised; empty: the configured model alone
	// Show reads an option's value; nil: ShowSetting.
	Show func(settings state.Object, name string) (state.Value, bool)
	// Patch turns a choice into a merge patch of the settings; nil: it is one already.
	Patch func(choice state.Object) state.Object
	// Check refuses settings that make no request; nil: all do.
	Check func(settings state.Object) error
}

// NewSettings starts with the settings of cfg and its model. What Check refuses is
// ErrConfig.
func NewSettings(cfg Config, rules SettingRules) (*Settings, error) {
	if cfg.Model == "" {
		return nil, &ConfigError{Provider: cfg.Name, Path: "/model", Err: errors.New("is missing")}
	}
	if rules.Show == nil {
		rules.Show = ShowSetting
	}
	s := &Settings{rules: rules, now: cfg.Settings.With("model", state.StringValue(cfg.Model))}
	if err := s.check(s.now); err != nil {
		return nil, badSettings(cfg.Name, err)
	}
	return s, nil
}

// badSettings names the provider in what Check says.
func badSettings(provider string, err error) error {
	if bad, ok := errors.AsType[*ConfigError](err); ok {
		return &ConfigError{Provider: provider, Path: bad.Path, Err: bad.Err}
	}
	return &ConfigError{Provider: provider, Path: "/config", Err: err}
}

func (s *Settings) check(settings state.Object) error {
	if s.rules.Check == nil {
		return nil
	}
	return s.rules.Check(settings)
}

// Current gives the settings as they stand.
func (s *Settings) Current() state.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Options is what Provider.Options gives.
func (s *Settings) Options() OptionSet {
	settings := s.Current()
	set := OptionSet{Available: s.available(settings), Current: state.EmptyObject()}
	for _, o := range set.Available {
		if v, ok := s.rules.Show(settings, o.Name); ok {
			set.Current = set.Current.With(o.Name, v)
		}
	}
	return set
}

func (s *Settings) available(settings state.Object) []Option {
	if len(s.rules.Options) > 0 {
		return slices.Clone(s.rules.Options)
	}
	model, _ := settings.Get("model")
	name, _ := model.Text()
	return []Option{{Name: "model", Options: []string{name}}}
}

// Choose applies a choice, all of it or nothing (§6.8). A refused one is
// ErrInvalidOption.
func (s *Settings) Choose(choice state.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := CheckChoice(choice, s.available(s.now)); err != nil {
		return err
	}
	patch := choice
	if s.rules.Patch != nil {
		patch = s.rules.Patch(choice)
	}
	next, err := PatchSettings(s.now, patch)
	if err != nil {
		return err
	}
	if err := s.check(next); err != nil {
		if bad, ok := errors.AsType[*ConfigError](err); ok {
			return fmt.Errorf("%w: %s %w", ErrInvalidOption, strings.TrimPrefix(bad.Path, "/config/"), bad.Err)
		}
		return fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	s.now = next
	return nil
}

// ShowSetting reads a setting of that name. The effort may stand in the reasoning
// object, too.
func ShowSetting(settings state.Object, name string) (state.Value, bool) {
	if v, ok := settings.Get(name); ok && !v.IsNull() {
		return v, true
	}
	if name == "reasoning_effort" {
		return EffortIn(settings)
	}
	return state.Value{}, false
}

// EffortIn gives reasoning.effort.
func EffortIn(settings state.Object) (state.Value, bool) {
	v, _ := settings.Get("reasoning")
	reasoning, err := v.Object()
	if err != nil {
		return state.Value{}, false
	}
	effort, ok := reasoning.Get("effort")
	return effort, ok && !effort.IsNull()
}
