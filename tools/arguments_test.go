package tools_test

import (
	"math"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
)

// TestAccessors shows each accessor on both sides of its line: what it refuses, and
// what the call holds afterwards when it does not.
func TestAccessors(t *testing.T) {
	t.Parallel()
	type read = func(*tools.Arguments)
	requireString := func(a *tools.Arguments) { a.RequireString("v") }
	requireText := func(a *tools.Arguments) { a.RequireText("v") }
	optional := func(a *tools.Arguments) { a.OptionalString("v") }
	settleString := func(a *tools.Arguments) { a.SettleString("v", "dflt") }
	settleEnum := func(a *tools.Arguments) { a.SettleEnum("v", "x", "x", "y") }
	requireEnum := func(a *tools.Arguments) { a.RequireEnum("v", "x", "y") }
	settleBool := func(a *tools.Arguments) { a.SettleBool("v", true) }
	readUint := func(a *tools.Arguments) { a.ReadUint("v", 5, 2, 9) }
	settleUint := func(a *tools.Arguments) { a.SettleUint("v", 5, 2, 9) }
	anyUint := func(a *tools.Arguments) { a.SettleUint("v", 5, 0, math.MaxUint64) }
	settleStrings := func(a *tools.Arguments) { a.SettleStrings("v") }
	requireStrings := func(a *tools.Arguments) { a.RequireStrings("v") }

	for _, c := range []struct {
		name string
		read read
		args string
		want string // settled arguments, or the refusal
	}{
		{"require string", requireString, `{"v":"a"}`, `{"v":"a"}`},
		{"require string", requireString, `{}`, `argument "v" is required`},
		{"require string", requireString, `{"v":null}`, `argument "v" is required`},
		{"require string", requireString, `{"v":""}`, `argument "v" must not be empty`},
		{"require string", requireString, `{"v":5}`, `argument "v" must be a string, not a number`},
		{"require string", requireString, `{"v":["a"]}`, `argument "v" must be a string, not a list`},
		{"require text", requireText, `{"v":""}`, `{"v":""}`},
		{"require text", requireText, `{}`, `argument "v" is required`},
		{"optional", optional, `{}`, `{}`},
		{"optional", optional, `{"v":null}`, `{"v":null}`},
		{"optional", optional, `{"v":"a"}`, `{"v":"a"}`},
		{"optional", optional, `{"v":""}`, `argument "v" must not be empty; leave it out instead`},
		{"optional", optional, `{"v":false}`, `argument "v" must be a string, not a boolean`},
		{"settle string", settleString, `{}`, `{"v":"dflt"}`},
		{"settle string", settleString, `{"v":null}`, `{"v":"dflt"}`},
		{"settle string", settleString, `{"v":""}`, `{"v":""}`},
		{"settle string", settleString, `{"v":{}}`, `argument "v" must be a string, not an object`},
		{"settle enum", settleEnum, `{}`, `{"v":"x"}`},
		{"settle enum", settleEnum, `{"v":"y"}`, `{"v":"y"}`},
		{"settle enum", settleEnum, `{"v":"Y"}`, `argument "v" must be one of ["x" "y"]`},
		{"require enum", requireEnum, `{"v":"y"}`, `{"v":"y"}`},
		{"require enum", requireEnum, `{"v":""}`, `argument "v" must be one of ["x" "y"]`},
		{"require enum", requireEnum, `{}`, `argument "v" is required`},
		{"settle bool", settleBool, `{}`, `{"v":true}`},
		{"settle bool", settleBool, `{"v":false}`, `{"v":false}`},
		{"settle bool", settleBool, `{"v":1}`, `argument "v" must be true or false, not a number`},
		{"settle bool", settleBool, `{"v":"true"}`, `argument "v" must be true or false, not a string`},
		{"read uint", readUint, `{}`, `{}`},
		{"read uint", readUint, `{"v":9}`, `{"v":9}`},
		{"settle uint", settleUint, `{}`, `{"v":5}`},
		{"settle uint", settleUint, `{"v":2}`, `{"v":2}`},
		{"settle uint", settleUint, `{"v":9}`, `{"v":9}`},
		{"settle uint", settleUint, `{"v":1}`, `argument "v" must be from 2 to 9, not 1`},
		{"settle uint", settleUint, `{"v":10}`, `argument "v" must be from 2 to 9, not 10`},
		{"settle uint", settleUint, `{"v":"5"}`, `argument "v" must be an integer, not a string`},
		{"settle uint", settleUint, `{"v":5.0}`, `argument "v" must be a whole number of 0 or more, not 5.0`},
		{"settle uint", settleUint, `{"v":5e0}`, `argument "v" must be a whole number of 0 or more, not 5e0`},
		{"settle uint", settleUint, `{"v":-5}`, `argument "v" must be a whole number of 0 or more, not -5`},
		{"settle uint", settleUint, `{"v":true}`, `argument "v" must be an integer, not a boolean`},
		{"any uint", anyUint, `{"v":18446744073709551615}`, `{"v":18446744073709551615}`},
		{"any uint", anyUint, `{"v":18446744073709551616}`, `argument "v" must be a whole number of 0 or more, not 18446744073709551616`},
		{"settle strings", settleStrings, `{}`, `{"v":[]}`},
		{"settle strings", settleStrings, `{"v":null}`, `{"v":[]}`},
		{"settle strings", settleStrings, `{"v":["a",""]}`, `{"v":["a",""]}`},
		{"settle strings", settleStrings, `{"v":"a"}`, `argument "v" must be a list of strings, not a string`},
		{"settle strings", settleStrings, `{"v":["a",2]}`, `argument "v" must be a list of strings, but element 1 is a number`},
		{"settle strings", settleStrings, `{"v":[null]}`, `argument "v" must be a list of strings, but element 0 is null`},
		{"require strings", requireStrings, `{"v":["a"]}`, `{"v":["a"]}`},
		{"require strings", requireStrings, `{"v":[]}`, `argument "v" must have at least one element`},
		{"require strings", requireStrings, `{}`, `argument "v" is required`},
	} {
		t.Run(c.name+" "+c.args, func(t *testing.T) {
			t.Parallel()
			settled, res := settle(t, c.read, c.args)
			got := settled
			if tools.IsError(res) {
				got = errorMessage(t, res)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFirstRefusalIsReported(t *testing.T) {
	t.Parallel()
	_, res := settle(t, func(a *tools.Arguments) {
		a.RequireString("v")
		a.SettleBool("w", false)
		a.Failf("v", "is wrong too")
	}, `{"v":1,"w":1}`)
	if got := errorMessage(t, res); got != `argument "v" must be a string, not a number` {
		t.Error(got)
	}
}

func TestLongValuesAreNotRepeated(t *testing.T) {
	t.Parallel()
	_, res := settle(t, func(a *tools.Arguments) { a.SettleUint("v", 0, 0, 9) }, `{"v":`+strings.Repeat("9", 5000)+`}`)
	if got := errorMessage(t, res); len(got) > 200 {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}

type retiring struct{ tool }

func (*retiring) Retired(name string) (string, bool) { return "use the other one", name == "old" }

func TestRetiredArguments(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(nil)
	must(t, r.Add(&set{name: "s", tools: []tools.Tool{&retiring{tool{name: "t"}}}}))
	_, run := r.Prepare(state.Call{Name: "t", Arguments: value(t, `{"old":null}`)}, allow)
	if got := errorMessage(t, run(t.Context())); got != `argument "old" is no longer taken: use the other one` {
		t.Error(got)
	}
	_, run = r.Prepare(state.Call{Name: "t", Arguments: value(t, `{"new":null}`)}, allow)
	if got := errorMessage(t, run(t.Context())); got != `unknown argument "new"; this tool takes no arguments` {
		t.Error(got)
	}
}

func settle(t *testing.T, read func(*tools.Arguments), args string) (string, state.Result) {
	t.Helper()
	r := tools.NewRegistry(nil)
	must(t, r.Add(&set{name: "s", tools: []tools.Tool{&tool{name: "t", schema: `{"v":{},"w":{}}`, prepare: func(a *tools.Arguments) (tools.Plan, error) {
		read(a)
		return tools.Plan{Security: state.Trusted, Invoke: say("ok")}, nil
	}}}}))
	settled, run := r.Prepare(state.Call{Name: "t", Arguments: value(t, args)}, nil)
	return settled.Arguments.String(), run(t.Context())
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"v":1}`)
	f.Add(`"{\"v\""`)
	f.Add(`{"v":[{}],"w":-0}`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := state.ParseValue([]byte(raw))
		if err != nil {
			v = state.StringValue(raw)
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(&set{name: "s", tools: []tools.Tool{&tool{name: "t", schema: `{"v":{},"w":{}}`, prepare: func(a *tools.Arguments) (tools.Plan, error) {
			list, n := a.SettleStrings("v"), a.SettleUint("w", 3, 1, 5)
			if list == nil || n < 1 || n > 5 {
				t.Fatalf("out of contract: %v, %d", list, n)
			}
			return tools.Plan{Security: state.Trusted, Invoke: say("ok")}, nil
		}}}}))
		call := state.Call{ID: "c", Name: "t", Arguments: v}
		settled, run := r.Prepare(call, nil)
		if res := run(t.Context()); tools.IsError(res) {
			if settled != call {
				t.Fatalf("a refused call was changed: %+v", settled)
			}
			return
		}
		again, _ := r.Prepare(settled, nil)
		if again.Arguments != settled.Arguments {
			t.Fatalf("settling twice: %s, then %s", settled.Arguments, again.Arguments)
		}
	})
}
