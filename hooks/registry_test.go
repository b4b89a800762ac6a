package hooks_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"simplex/hooks"
	"simplex/state"
)

type handler struct {
	name string
	do   func(*hooks.Event) error
}

func (h handler) Name() string { return h.name }

func (h handler) Handle(_ context.Context, e *hooks.Event) error { return h.do(e) }

// scripted makes handlers a, b, c that note their name and then do as told.
func scripted(heard *[]string, do map[string]func(*hooks.Event) error) *hooks.Registry {
	var list []hooks.Handler
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, handler{name, func(e *hooks.Event) error {
			*heard = append(*heard, name)
			if f := do[name]; f != nil {
				return f(e)
			}
			return nil
		}})
	}
	return hooks.NewRegistry(list...)
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	fail := func(*hooks.Event) error { return io.ErrUnexpectedEOF }
	tests := []struct {
		name  string
		event hooks.Name
		do    map[string]func(*hooks.Event) error
		heard []string
		text  string
	}{
		{"registration order", hooks.RunStarted, nil, []string{"a", "b", "c"}, ""},
		{
			"stops at the first error", hooks.BeforeModel,
			map[string]func(*hooks.Event) error{"b": fail},
			[]string{"a", "b"},
			"hook b at BeforeModel: unexpected EOF",
		},
		{
			"a panic is an error", hooks.InputCommitted,
			map[string]func(*hooks.Event) error{"a": func(*hooks.Event) error { panic("boom") }},
			[]string{"a"},
			"hook a at InputCommitted: panic: boom",
		},
		{
			"everyone hears the end", hooks.RunFinished,
			map[string]func(*hooks.Event) error{"a": fail, "c": fail},
			[]string{"a", "b", "c"},
			"hook a at RunFinished: unexpected EOF\nhook c at RunFinished: unexpected EOF",
		},
		{
			"the event cannot be renamed", hooks.StepFinished,
			map[string]func(*hooks.Event) error{
				"a": func(e *hooks.Event) error { e.Name = "Nothing"; return nil },
				"b": fail,
			},
			[]string{"a", "b"},
			"hook b at StepFinished: unexpected EOF",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var heard []string
			err := scripted(&heard, tt.do).Dispatch(t.Context(), &hooks.Event{Name: tt.event})
			if !slices.Equal(heard, tt.heard) {
				t.Errorf("heard %v, want %v", heard, tt.heard)
			}
			if got := errorText(err); got != tt.text {
				t.Errorf("error %q, want %q", got, tt.text)
			}
		})
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
	t.Parallel()
	r := hooks.NewRegistry(nil, handler{"h", func(*hooks.Event) error { return io.EOF }})
	err := r.Dispatch(t.Context(), &hooks.Event{Name: hooks.RunStarted})
	var where *hooks.Error
	if !errors.As(err, &where) || where.Handler != "h" || where.Event != hooks.RunStarted || !errors.Is(err, io.EOF) {
		t.Fatalf("got %#v", err)
	}
	r = hooks.NewRegistry(handler{"h", func(*hooks.Event) error { panic(7) }})
	err = r.Dispatch(t.Context(), &hooks.Event{Name: hooks.RunStarted})
	var panicked *hooks.PanicError
	if !errors.As(err, &panicked) || panicked.Value != 7 || len(panicked.Stack) == 0 {
		t.Fatalf("got %#v", err)
	}
}

func TestHandlersHandOnWhatTheyChanged(t *testing.T) {
	t.Parallel()
	var heard []string
	r := scripted(&heard, map[string]func(*hooks.Event) error{
		"a": func(e *hooks.Event) error { e.Input = &state.Message{Role: "a"}; return nil },
		"b": func(e *hooks.Event) error { e.Input = &state.Message{Role: e.Input.Role + "b"}; return nil },
	})
	e := &hooks.Event{Name: hooks.BeforeInput, Input: &state.Message{}}
	if err := r.Dispatch(t.Context(), e); err != nil || e.Input.Role != "ab" {
		t.Fatalf("role %q, error %v", e.Input.Role, err)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	var none *hooks.Registry
	if !none.Empty() || !hooks.NewRegistry().Empty() {
		t.Error("not empty")
	}
	if err := none.Dispatch(t.Context(), &hooks.Event{Name: hooks.RunStarted}); err != nil {
		t.Error(err)
	}
}

func TestNamesAreComplete(t *testing.T) {
	t.Parallel()
	names := hooks.Names()
	if len(names) != 13 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 13 {
		t.Errorf("got %v", names)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
