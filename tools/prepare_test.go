package tools_test

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"simplex/state"
	"simplex/tools"
)

// registry has one tool named t which prepares as told.
func registry(t *testing.T, prepare func(*tools.Arguments) (tools.Plan, error)) *tools.Registry {
	t.Helper()
	r := tools.NewRegistry(nil)
	must(t, r.Add(&set{name: "s", tools: []tools.Tool{
		&tool{name: "t", schema: `{"n":{},"s":{}}`, prepare: prepare}, &tool{name: "other"},
	}}))
	return r
}

func plan(p tools.Plan) func(*tools.Arguments) (tools.Plan, error) {
	return func(*tools.Arguments) (tools.Plan, error) { return p, nil }
}

func fails(err error) func(context.Context) (state.Result, error) {
	return func(context.Context) (state.Result, error) { return state.Result{}, err }
}

func TestSettledCallIsWhatEverybodySees(t *testing.T) {
	t.Parallel()
	r := registry(t, func(a *tools.Arguments) (tools.Plan, error) {
		a.SettleUint("n", 7, 0, 10)
		return tools.Plan{Type: state.ParallWrite, Security: state.RequireConfirm, Invoke: say("done")}, nil
	})
	raw := state.Call{ID: "c1", Name: "t", Type: state.ReadOnly, Security: state.DefaultDeny, Arguments: value(t, `{"s":"x"}`)}
	var asked state.Call
	settled, run := r.Prepare(raw, func(_ context.Context, c state.Call) (bool, string) {
		asked = c
		return true, ""
	})
	want := raw
	want.Type, want.Security, want.Arguments = state.ParallWrite, state.RequireConfirm, value(t, `{"n":7,"s":"x"}`)
	if settled != want {
		t.Errorf("settled %+v, want %+v", settled, want)
	}
	res := run(t.Context())
	if asked != want || res.Call != want || res.Output.Raw != "done" || res.Extras.IsSet() {
		t.Errorf("asked %+v, result %+v", asked, res)
	}
	if raw.Arguments != value(t, `{"s":"x"}`) {
		t.Error("the raw call was written to")
	}
}

func TestToolsAreGuardedByDefault(t *testing.T) {
	t.Parallel()
	settled, _ := registry(t, plan(tools.Plan{Invoke: say("")})).Prepare(state.Call{Name: "t"}, nil)
	if settled.Type != state.SerialWrite || settled.Security != state.RequireConfirm {
		t.Errorf("%s, %s", settled.Type, settled.Security)
	}
}

func TestErrorRecords(t *testing.T) {
	t.Parallel()
	trusted := func(p tools.Plan) func(*tools.Arguments) (tools.Plan, error) {
		p.Security = state.Trusted
		return plan(p)
	}
	deny := func(context.Context, state.Call) (bool, string) { return false, "too risky" }
	panics := func(context.Context, state.Call) (bool, string) { panic("no") }
	guarded := func(s state.InvokeSecurity) func(*tools.Arguments) (tools.Plan, error) {
		return plan(tools.Plan{Security: s, Invoke: say("ran")})
	}
	for name, c := range map[string]struct {
		call    string // tool name
		prepare func(*tools.Arguments) (tools.Plan, error)
		confirm func(context.Context, state.Call) (bool, string)
		args    string
		text    string
		stage   string
		message string
	}{
		"unknown tool": {
			call: "T", text: `Failed to find the tool: there is no tool "T" (did you mean "t"?); the valid names are: t, other (tool T; call c7)`,
			stage: "dispatch", message: `there is no tool "T" (did you mean "t"?); the valid names are: t, other`,
		},
		"bad argument": {
			args: `{"n":"5"}`, prepare: func(a *tools.Arguments) (tools.Plan, error) {
				a.SettleUint("n", 1, 0, 9)
				return tools.Plan{Security: state.Trusted, Invoke: say("ran")}, nil
			},
			text:  `Failed to read the arguments: argument "n" must be an integer, not a string (tool t; call c7)`,
			stage: "argument_parse", message: `argument "n" must be an integer, not a string`,
		},
		"argument error returned": {
			prepare: func(*tools.Arguments) (tools.Plan, error) { return tools.Plan{}, errors.New("nothing to do") },
			text:    `Failed to read the arguments: nothing to do (tool t; call c7)`,
			stage:   "argument_parse", message: `nothing to do`,
		},
		"unknown argument": {
			args: `{"m":1}`, text: `Failed to read the arguments: unknown argument "m" (did you mean "n"?); the valid ones are: n, s (tool t; call c7)`,
			stage: "argument_parse", message: `unknown argument "m" (did you mean "n"?); the valid ones are: n, s`,
		},
		"arguments are a list": {
			args: `[]`, text: `Failed to read the arguments: the arguments must be one JSON object, not a list (tool t; call c7)`,
			stage: "argument_parse", message: `the arguments must be one JSON object, not a list`,
		},
		"panic while preparing": {
			prepare: func(*tools.Arguments) (tools.Plan, error) { panic("oh") },
			text:    `Failed at an unknown stage: toolset "s" broke its contract: panic: oh (tool t; call c7)`,
			stage:   "unknown", message: `toolset "s" broke its contract: panic: oh`,
		},
		"denied by class": {
			prepare: guarded(state.DefaultDeny), confirm: allow,
			text:  `Failed the security check: security check denied: this tool may not be run here (tool t; call c7)`,
			stage: "security_check", message: `security check denied: this tool may not be run here`,
		},
		"unknown class": {
			prepare: guarded("sure"), confirm: allow,
			text:  `Failed the security check: security check denied: this tool may not be run here (tool t; call c7)`,
			stage: "security_check", message: `security check denied: this tool may not be run here`,
		},
		"nobody to ask": {
			prepare: guarded(state.RequireConfirm),
			text:    `Failed the security check: security check denied: nobody is there to confirm it (tool t; call c7)`,
			stage:   "security_check", message: `security check denied: nobody is there to confirm it`,
		},
		"denied": {
			prepare: guarded(state.RequireConfirm), confirm: deny,
			text:  `Failed the security check: security check denied: too risky (tool t; call c7)`,
			stage: "security_check", message: `security check denied: too risky`,
		},
		"denied without a reason": {
			prepare: guarded(state.RequireConfirm), confirm: func(context.Context, state.Call) (bool, string) { return false, "" },
			text:  `Failed the security check: security check denied: no reason was given (tool t; call c7)`,
			stage: "security_check", message: `security check denied: no reason was given`,
		},
		"confirmation panics": {
			prepare: guarded(state.RequireConfirm), confirm: panics,
			text:  `Failed the security check: security check denied: the confirmation failed (tool t; call c7)`,
			stage: "security_check", message: `security check denied: the confirmation failed`,
		},
		"no invoke": {
			prepare: trusted(tools.Plan{}),
			text:    `Failed to run the tool: the tool has nothing to run (tool t; call c7)`,
			stage:   "invoke", message: `the tool has nothing to run`,
		},
		"invoke fails": {
			prepare: trusted(tools.Plan{Invoke: fails(errors.New("no session proc_x"))}),
			text:    `Failed to run the tool: no session proc_x (tool t; call c7)`,
			stage:   "invoke", message: `no session proc_x`,
		},
		"invoke fails with a cause": {
			prepare: trusted(tools.Plan{Invoke: fails(&tools.Failure{Message: "cannot open", Cause: syscall.ENOENT})}),
			text:    `Failed to run the tool: cannot open (no such file or directory; tool t; call c7)`,
			stage:   "invoke", message: `cannot open`,
		},
		"invoke panics": {
			prepare: trusted(tools.Plan{Invoke: func(context.Context) (state.Result, error) { panic(errors.New("oh")) }}),
			text:    `Failed at an unknown stage: toolset "s" broke its contract: panic: oh (tool t; call c7)`,
			stage:   "unknown", message: `toolset "s" broke its contract: panic: oh`,
		},
		"answers nothing": {
			prepare: trusted(tools.Plan{Invoke: fails(nil)}),
			text:    `Failed at an unknown stage: toolset "s" broke its contract: it answered nothing (tool t; call c7)`,
			stage:   "unknown", message: `toolset "s" broke its contract: it answered nothing`,
		},
		"result refused": {
			prepare: trusted(tools.Plan{Invoke: say("x"), Check: func(state.Result) (state.Result, error) {
				return state.Result{}, errors.New("too odd")
			}}),
			text:  `Failed to check the result: too odd (tool t; call c7)`,
			stage: "result_check", message: `too odd`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.call == "" {
				c.call = "t"
			}
			call := state.Call{ID: "c7", Name: c.call, Arguments: value(t, c.args)}
			settled, run := registry(t, c.prepare).Prepare(call, c.confirm)
			res := run(t.Context())
			if res.Output.Raw != c.text {
				t.Errorf("text %q\nwant %q", res.Output.Raw, c.text)
			}
			if res.Call != settled || res.Call.ID != "c7" || !tools.IsError(res) {
				t.Errorf("record %+v does not answer %+v", res, settled)
			}
			want := state.ObjectFrom([]state.Member{{Name: "error", Value: state.ObjectFrom([]state.Member{
				{Name: "message", Value: state.StringValue(c.message)},
				{Name: "stage", Value: state.StringValue(c.stage)},
			}).Value}})
			if res.Extras != want {
				t.Errorf("extras %s, want %s", res.Extras, want)
			}
		})
	}
}

func TestPiecesOfTheErrorTextAreOptional(t *testing.T) {
	t.Parallel()
	_, run := tools.NewRegistry(nil).Prepare(state.Call{}, nil)
	if got, want := run(t.Context()).Output.Raw, `Failed to find the tool: there is no tool "", and none is offered`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRecordAnswersItsOwnCall(t *testing.T) {
	t.Parallel()
	other := state.Call{ID: "c9", Name: "elsewhere", Arguments: value(t, `{"x":1}`)}
	same := state.Call{ID: "c7", Name: "t"}
	for name, c := range map[string]struct {
		invoke func(context.Context) (state.Result, error)
		cause  bool
	}{
		"failure names another call": {fails(&tools.Failure{Message: "m", Call: &other}), true},
		"result names another call": {func(context.Context) (state.Result, error) {
			r := answer("fine")
			r.Call, r.Extras = other, state.ObjectFrom([]state.Member{{Name: "kept", Value: state.StringValue("yes")}})
			return r, nil
		}, true},
		"failure names this call": {fails(&tools.Failure{Message: "m", Call: &same}), false},
		"failure names none":      {fails(&tools.Failure{Message: "m", Call: &state.Call{}}), false},
	} {
		_, run := registry(t, plan(tools.Plan{Security: state.Trusted, Invoke: c.invoke})).Prepare(state.Call{ID: "c7", Name: "t"}, nil)
		res := run(t.Context())
		if res.Call.ID != "c7" || res.Call.Name != "t" {
			t.Errorf("%s: answers %+v", name, res.Call)
		}
		cause, ok := res.Extras.Get("cause_query")
		if ok != c.cause {
			t.Errorf("%s: extras %s", name, res.Extras)
		}
		if !ok {
			continue
		}
		o, err := cause.Object()
		must(t, err)
		if id, _ := o.Get("id"); id != state.StringValue("c9") {
			t.Errorf("%s: cause %s", name, cause)
		}
		if args, _ := o.Get("arguments"); args != other.Arguments {
			t.Errorf("%s: the other call is not kept whole: %s", name, cause)
		}
	}
}

// BR-051: arguments that were no JSON reach the registry as a string.
func TestUnparsableArguments(t *testing.T) {
	t.Parallel()
	r := registry(t, nil)
	for raw, want := range map[string]string{
		`{"command": "git commit -m \"x}`: "the arguments are not valid JSON (",
		``:                                "the arguments are not valid JSON (",
		`{"n":1,"n":2}`:                   "the arguments are not valid JSON (",
		`{}`:                              "the arguments must be one JSON object, not a string",
	} {
		call := state.Call{ID: "c", Name: "t", Arguments: state.StringValue(raw)}
		settled, run := r.Prepare(call, allow)
		if settled != call {
			t.Errorf("%q: the call was changed: %+v", raw, settled)
		}
		res := run(t.Context())
		if got := errorMessage(t, res); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%q: %q", raw, got)
		}
	}
	for _, none := range []state.Value{{}, value(t, "null"), value(t, "{}")} {
		settled, run := r.Prepare(state.Call{Name: "t", Arguments: none}, allow)
		if res := run(t.Context()); tools.IsError(res) || settled.Arguments != value(t, "{}") {
			t.Errorf("%q: %s, settled %s", none, res.Output.Raw, settled.Arguments)
		}
	}
}

// Whatever a model calls a tool with, there is one record, and it can be stored.
func TestEveryCallIsAnswered(t *testing.T) {
	t.Parallel()
	r := registry(t, func(a *tools.Arguments) (tools.Plan, error) {
		a.SettleUint("n", 1, 0, 9)
		a.SettleString("s", "")
		return tools.Plan{Security: state.Trusted, Invoke: say("ran")}, nil
	})
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(
			rapid.SampledFrom([]string{`{}`, `{"n":3}`, `{"n":-1}`, `{"s":[]}`, `{"x":1}`, `[1]`, `7`, `null`, `"{"`}),
			rapid.Just(string(state.StringValue(rapid.String().Draw(t, "text")).Bytes())),
		).Draw(t, "arguments")
		v, err := state.ParseValue([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		call := state.Call{ID: rapid.String().Draw(t, "id"), Name: rapid.SampledFrom([]string{"t", "T", "", "other"}).Draw(t, "name"), Arguments: v}
		settled, run := r.Prepare(call, nil)
		res := run(context.Background())
		if res.Call != settled || res.Call.ID != call.ID || res.Call.Name != call.Name || res.Output.Type != state.TypeText {
			t.Fatalf("%+v answers %+v", res, call)
		}
		if _, err := state.ValueOf(res.Output.Raw); err != nil {
			t.Fatalf("cannot be stored: %v", err)
		}
	})
}

func errorMessage(t *testing.T, r state.Result) string {
	t.Helper()
	e, _ := r.Extras.Get("error")
	o, err := e.Object()
	if err != nil {
		t.Fatalf("no error record: %q", r.Output.Raw)
	}
	m, _ := o.Get("message")
	s, _ := m.Text()
	return s
}
