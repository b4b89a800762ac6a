package loop_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"simplex/loop"
	"simplex/state"
)

// TestBatchSchedule runs one batch in fake time: each tool takes as many seconds as
// its name has letters, and notes when it started and ended.
func TestBatchSchedule(t *testing.T) {
	tests := []struct {
		name  string
		calls []string
		want  string
	}{
		{
			"serial first and one by one, whatever the place",
			[]string{"rr:1", "w:2", "ppppp:3", "xx:4", "rrr:5"},
			`0-1 w 2
1-3 xx 4
3-5 rr 1
3-6 rrr 5
3-8 ppppp 3`,
		},
		{"reads together", []string{"rrr:1", "r:2", "rr:3"}, "0-1 r 2\n0-2 rr 3\n0-3 rrr 1"},
		{"writes in call order", []string{"sss:1", "s:2"}, "0-3 sss 1\n3-4 s 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(says("", tt.calls...), says("done"))
				start := time.Now()
				ended := &journal{}
				for _, c := range tt.calls {
					name, _, _ := strings.Cut(c, ":")
					r.tools.do[name] = func(c state.Call) state.Result {
						began := time.Since(start)
						time.Sleep(time.Duration(len(name)) * time.Second)
						ended.add(fmt.Sprintf("%.0f-%.0f %s %s", began.Seconds(), time.Since(start).Seconds(), name, c.ID))
						return state.Result{Call: c, Output: part(name)}
					}
				}
				wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
				wantText(t, ended.String(), tt.want)
				settled := 0
				for i, line := range r.log.lines {
					if strings.HasPrefix(line, "settle ") {
						settled++
						name, _, _ := strings.Cut(tt.calls[settled-1], ":")
						if line != "settle "+name || slices.ContainsFunc(r.log.lines[:i], func(s string) bool { return strings.HasPrefix(s, "run ") }) {
							t.Errorf("%q after %v", line, r.log.lines[:i])
						}
					}
				}
				for i, ret := range r.st.Turns[0].Steps[0].Returns {
					if name := ret.Result.Call.Name; name[0] == 'x' && ret.Result.Call.Type != state.SerialWrite {
						t.Errorf("the record of %s says %s", name, ret.Result.Call.Type)
					}
					if got := ret.Result.Output.Raw + ":" + ret.Result.Call.ID; got != tt.calls[i] {
						t.Errorf("result %d is of %s, want %s", i, got, tt.calls[i])
					}
				}
			})
		})
	}
}

// A stop does not reach into a batch that has started, and is obeyed after it (BR-050).
func TestCancelDuringABatch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := newRig(says("", "write:c1", "read:c2"), says("second"))
	r.tools.do["write"] = func(c state.Call) state.Result {
		cancel()
		return state.Result{Call: c, Output: part("written")}
	}
	wantStatus(t, loop.Run(ctx, r.st, said("go"), r.cfg), state.StatusCancelled)
	checkState(t, r.st)
	wantText(t, strings.Join(outputs(r.st), "\n"), "c1: written\nc2: done read")

	wantStatus(t, r.run(t, said("go on")), state.StatusCompleted)
	if last := r.model.seen[len(r.model.seen)-1]; len(last.Turns) != 2 || len(last.Turns[0].Steps[0].Returns) != 2 {
		t.Error("the next message does not follow a whole step")
	}
}

// Every way of a tool to break its contract gives one record that names the right call.
func TestEveryCallIsAnswered(t *testing.T) {
	t.Parallel()
	other := state.Call{Type: state.SerialWrite, Security: state.Trusted, ID: "else", Name: "other", Arguments: state.EmptyObject().Value}
	tests := []struct {
		name   string
		do     func(state.Call) state.Result
		output string
		extras string
	}{
		{"ok", nil, "done ok", ""},
		{
			"rpanics", func(state.Call) state.Result { panic("boom\xff") },
			"Failed at an unknown stage: panic in the tool: boom\uFFFD (tool rpanics; call id)",
			`{"error":{"message":"panic in the tool: boom` + "\uFFFD" + `","stage":"unknown"}}`,
		},
		{
			"wpanics", func(state.Call) state.Result { panic(1) },
			"Failed at an unknown stage: panic in the tool: 1 (tool wpanics; call id)",
			`{"error":{"message":"panic in the tool: 1","stage":"unknown"}}`,
		},
		{
			"exits", func(state.Call) state.Result { runtime.Goexit(); panic("not reached") },
			"Failed at an unknown stage: the tool gave no result (tool exits; call id)",
			`{"error":{"message":"the tool gave no result","stage":"unknown"}}`,
		},
		{
			"missing", func(state.Call) state.Result { return state.Result{} },
			"Failed at an unknown stage: the tool gave no result (tool missing; call id)",
			`{"error":{"message":"the tool gave no result","stage":"unknown"}}`,
		},
		{
			"gives-no-run", nil,
			"Failed at an unknown stage: the tool set gave nothing to run (tool gives-no-run; call id)",
			`{"error":{"message":"the tool set gave nothing to run","stage":"unknown"}}`,
		},
		{
			"prepare-panics", nil,
			"Failed at an unknown stage: panic while the call was prepared: no idea (tool prepare-panics; call id)",
			`{"error":{"message":"panic while the call was prepared: no idea","stage":"unknown"}}`,
		},
		{
			"foreign", func(state.Call) state.Result { return state.Result{Call: other, Output: part("for another")} },
			"for another",
			`{"cause_query":{"arguments":{},"id":"else","name":"other","security":"trusted","type":"serial_write"}}`,
		},
		{
			"misnamed", func(c state.Call) state.Result { c.Name = "x"; return state.Result{Call: c, Output: part("fine")} },
			"fine", "",
		},
		{
			"anonymous", func(state.Call) state.Result { return state.Result{Output: state.Content{Raw: "half\xff"}} },
			"half\uFFFD", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(says("", "read:before", tt.name+":id", "write:after"), says("done"))
			r.tools.do[tt.name] = tt.do
			wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
			returns := r.st.Turns[0].Steps[0].Returns
			got := returns[1].Result
			if got.Output.Raw != tt.output || got.Extras.String() != tt.extras {
				t.Errorf("output %q, extras %s", got.Output.Raw, got.Extras)
			}
			if got.Call.ID != "id" || got.Call.Name != tt.name || got.Output.Type != state.TypeText || got.Output.Modality != state.ModalityText {
				t.Errorf("record %+v", got)
			}
			if a, b := returns[0].Result.Output.Raw, returns[2].Result.Output.Raw; a != "done read" || b != "done write" {
				t.Errorf("its neighbours say %q and %q", a, b)
			}
		})
	}
}

func TestWithoutTools(t *testing.T) {
	t.Parallel()
	r := newRig(says("", "read:c1"), says("done"))
	r.cfg.Tools = nil
	wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
	wantText(t, onlyOutput(r), "Failed to find the tool: no tools are offered here (tool read; call c1)")
}

// mixer settles every call as another one.
type mixer struct{}

func (mixer) Prepare(c state.Call, _ func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	c.ID, c.Name = "mixed", "up"
	return c, func(context.Context) state.Result { return state.Result{} }
}

func TestSettlingKeepsTheIdentity(t *testing.T) {
	t.Parallel()
	r := newRig(says("", "read:c1", "write:c2"), says("done"))
	r.cfg.Tools = mixer{}
	wantStatus(t, r.run(t, said("go")), state.StatusCompleted)
}

func onlyOutput(r *rig) string { return r.st.Turns[0].Steps[0].Returns[0].Result.Output.Raw }

// asker is a tool that hands on what the operator said.
type asker struct{}

func (asker) Prepare(c state.Call, confirm func(context.Context, state.Call) (bool, string)) (state.Call, func(context.Context) state.Result) {
	return c, func(ctx context.Context) state.Result {
		ok, why := confirm(ctx, c)
		return state.Result{Call: c, Output: part(fmt.Sprint(ok, " ", why, " ", ctx.Err()))}
	}
}

func TestConfirmation(t *testing.T) {
	t.Parallel()
	r := newRig(says("", "read:c1"), says("done"))
	r.cfg.Tools = asker{}
	r.run(t, said("go"))
	wantText(t, onlyOutput(r), "false there is nobody to ask <nil>")

	r = newRig(says("", "read:c1"), says("done"))
	r.cfg.Tools = asker{}
	r.cfg.Confirm = func(_ context.Context, c state.Call) (bool, string) { return true, c.ID }
	r.run(t, said("go"))
	wantText(t, onlyOutput(r), "true c1 <nil>")
}

// A tool that does not exist and arguments that do not parse are answered like any
// other call, and what repeats is bounded (BR-051, BR-052).
func TestBadCallsDoNotEndTheRun(t *testing.T) {
	t.Parallel()
	r := newRig()
	r.cfg.MaxExchanges = 30
	for range 40 {
		r.model.answers = append(r.model.answers, func(context.Context) (*state.Message, error) {
			m := response("", "search_files:s")
			m.Calls[0].Arguments = state.StringValue(`{"command": "git commit -m \"x}`)
			return m, nil
		})
	}
	r.tools.do["search_files"] = func(c state.Call) state.Result {
		return state.Result{Call: c, Output: part("Failed to find the tool: there are read, write")}
	}
	out := r.run(t, said("go"))
	wantStatus(t, out, state.StatusExchangeLimit)
	if out.Exchanges != 30 || len(r.model.seen) != 30 {
		t.Errorf("%d exchanges, %d requests", out.Exchanges, len(r.model.seen))
	}
}
