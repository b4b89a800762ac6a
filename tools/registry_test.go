package tools_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
)

func TestAddAllOrNothing(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(nil)
	must(t, r.Add(&set{name: "one", tools: []tools.Tool{&tool{name: "a"}, &tool{name: "b"}}}))
	for name, c := range map[string]struct {
		set  tools.Set
		want error
	}{
		"nil":        {nil, tools.ErrInvalidSet},
		"nil tool":   {&set{name: "x", tools: []tools.Tool{&tool{name: "c"}, nil}}, tools.ErrInvalidSet},
		"no name":    {&set{name: "x", tools: []tools.Tool{&tool{name: "c"}, &tool{}}}, tools.ErrInvalidSet},
		"twice":      {&set{name: "x", tools: []tools.Tool{&tool{name: "c"}, &tool{name: "c"}}}, tools.ErrInvalidSet},
		"name taken": {&set{name: "x", tools: []tools.Tool{&tool{name: "c"}, &tool{name: "b"}}}, tools.ErrNameTaken},
	} {
		err := r.Add(c.set)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if c.want == tools.ErrNameTaken && !strings.Contains(err.Error(), `"b" belongs to toolset "one"`) {
			t.Errorf("%s: %v", name, err)
		}
		if got := r.Names(); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("%s left %q behind", name, got)
		}
	}
}

func TestCatalogueAndSkillsInOrder(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(nil)
	must(t, r.Add(&set{name: "two", tools: []tools.Tool{&tool{name: "z"}, &tool{name: "b"}}, skill: &tools.Skill{Name: "two"}}))
	must(t, r.Add(&set{name: "none"}))
	must(t, r.Add(&set{name: "one", tools: []tools.Tool{&tool{name: "a"}}, skill: &tools.Skill{Name: "one"}}))
	var names []string
	for _, offer := range r.Catalogue() {
		names = append(names, offer.Name)
		if offer.Description == "" || !offer.ArgumentSchema.IsSet() {
			t.Errorf("%s is offered without description or schema", offer.Name)
		}
	}
	if want := []string{"z", "b", "a"}; !slices.Equal(names, want) || !slices.Equal(r.Names(), want) {
		t.Errorf("catalogue %q, want %q", names, want)
	}
	if got := r.Skills(); len(got) != 2 || got[0].Name != "two" || got[1].Name != "one" {
		t.Errorf("skills %v", got)
	}
}

func TestRemoveDropsTheWholeSet(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(nil)
	gone := &set{name: "two", tools: []tools.Tool{&tool{name: "b"}, &tool{name: "c"}}}
	must(t, r.Add(&set{name: "one", tools: []tools.Tool{&tool{name: "a"}}}))
	must(t, r.Add(gone))
	must(t, r.Remove(t.Context(), "nobody"))
	must(t, r.Remove(t.Context(), "c"))
	if got := r.Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("left: %q", got)
	}
	if gone.shutdowns != 1 {
		t.Errorf("%d shutdowns", gone.shutdowns)
	}
	must(t, r.Add(&set{name: "again", tools: []tools.Tool{&tool{name: "b"}}}))
}

func TestGroups(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := tools.NewRegistry(slog.New(slog.NewTextHandler(&log, nil)))
	must(t, r.Add(&set{
		name:  "remote",
		tools: []tools.Tool{&tool{name: "send"}},
		groups: []tools.Group{
			{Name: "plan", Tools: []string{"plan"}},
			{Name: "subagents", Tools: []string{"fork", "send"}},
		},
	}))
	got := r.Groups()
	if len(got) != 2 || got[0].Name != "plan" || len(got[0].Registered) != 0 ||
		!slices.Equal(got[1].Registered, []string{"send"}) || !slices.Equal(got[1].Missing, []string{"fork"}) {
		t.Errorf("groups: %+v", got)
	}
	for _, want := range []string{`msg="tool group absent" set=remote group=plan`, "present=1 total=2 missing=[fork]"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q:\n%s", want, log.String())
		}
	}
	// A degraded group's tools stay routable.
	_, run := r.Prepare(state.Call{Name: "send"}, allow)
	if res := run(t.Context()); tools.IsError(res) {
		t.Errorf("degraded tool does not run: %s", res.Output.Raw)
	}
}

func TestShutdownVisitsAllSets(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(nil)
	bad := errors.New("still running")
	sets := []*set{{name: "one"}, {name: "two", shutdownErr: bad}, {name: "three"}}
	for _, s := range sets {
		must(t, r.Add(s))
	}
	if err := r.Shutdown(t.Context()); !errors.Is(err, bad) || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("shutdown: %v", err)
	}
	for _, s := range sets {
		if s.shutdowns != 1 {
			t.Errorf("%s: %d shutdowns", s.name, s.shutdowns)
		}
	}
}

// set and tool are the smallest things that can be registered.
type set struct {
	name        string
	tools       []tools.Tool
	skill       *tools.Skill
	groups      []tools.Group
	shutdownErr error
	shutdowns   int
}

func (s *set) Name() string          { return s.name }
func (s *set) Tools() []tools.Tool   { return s.tools }
func (s *set) Skill() *tools.Skill   { return s.skill }
func (s *set) Groups() []tools.Group { return s.groups }
func (s *set) Shutdown(context.Context) error {
	s.shutdowns++
	return s.shutdownErr
}

type tool struct {
	name    string
	schema  string // properties; none when empty
	prepare func(*tools.Arguments) (tools.Plan, error)
}

func (f *tool) Declaration() tools.Declaration {
	props := f.schema
	if props == "" {
		props = "{}"
	}
	schema, err := state.ParseObject([]byte(`{"type":"object","additionalProperties":false,"properties":` + props + `}`))
	if err != nil {
		panic(err)
	}
	return tools.Declaration{Name: f.name, Description: "does " + f.name, Schema: schema}
}

func (f *tool) Prepare(a *tools.Arguments) (tools.Plan, error) {
	if f.prepare == nil {
		return tools.Plan{Invoke: say("ok")}, nil
	}
	return f.prepare(a)
}

func say(s string) func(context.Context) (state.Result, error) {
	return func(context.Context) (state.Result, error) { return answer(s), nil }
}

func answer(s string) state.Result {
	return state.Result{Output: state.Content{Type: state.TypeText, Modality: state.ModalityText, Raw: s}}
}

func allow(context.Context, state.Call) (bool, string) { return true, "" }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value(t *testing.T, raw string) state.Value {
	t.Helper()
	if raw == "" {
		return state.Value{}
	}
	v, err := state.ParseValue([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}
