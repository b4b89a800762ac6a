package wire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/wire"
)

const (
	hex64  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	source = `{"worker_id":"w","turn":3,"step":0,"commit_sequence":"18446744073709551615","fingerprint":"` + hex64 + `"}`
)

func answer(source, rest string) string {
	return `{"operation":"answer","request_id":"q","source":` + source + rest + `}`
}

func TestDecodeQuery(t *testing.T) {
	t.Parallel()
	tests := []struct {
		data string
		want wire.Query
	}{
		{`{"operation":"history","request_id":"q"}`, wire.Query{RequestID: "q", History: &wire.HistoryRequest{Limit: 10}}},
		{
			`{"operation":"history","request_id":"q","start":9007199254740991,"step":2,"limit":1,"later":true}`,
			wire.Query{RequestID: "q", History: &wire.HistoryRequest{Start: 1<<53 - 1, Step: 2, Limit: 1}},
		},
		{
			answer(source, `,"part":1,"offset":32768`),
			wire.Query{RequestID: "q", Answer: &wire.AnswerRequest{
				Source: wire.AnswerSource{WorkerID: "w", Turn: 3, CommitSequence: 1<<64 - 1, Fingerprint: hex64},
				Part:   1, Offset: 32768,
			}},
		},
	}
	for _, tt := range tests {
		got, failed := wire.DecodeQuery([]byte(tt.data))
		if failed != nil {
			t.Errorf("%s: %v", tt.data, failed.Message)
		} else if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.data, diff)
		}
	}
}

func TestDecodeQueryRefuses(t *testing.T) {
	t.Parallel()
	replace := func(old, now string) string {
		return answer(strings.Replace(source, old, now, 1), `,"part":0,"offset":0`)
	}
	bad := []string{
		`{"operation":"history"}`, `{"operation":"history","request_id":""}`, `{"operation":"message","request_id":"q"}`,
		`{"operation":"history","request_id":"q","limit":0}`, `{"operation":"history","request_id":"q","limit":11}`,
		`{"operation":"history","request_id":"q","limit":-1}`, `{"operation":"history","request_id":"q","limit":1.5}`,
		`{"operation":"history","request_id":"q","limit":1e0}`, `{"operation":"history","request_id":"q","limit":"5"}`,
		`{"operation":"history","request_id":"q","limit":null}`, `{"operation":"history","request_id":"q","start":-1}`,
		`{"operation":"history","request_id":"q","start":9007199254740992}`,
		`{"operation":"history","request_id":"q","step":null}`, `{"operation":"history","request_id":"q","content":null}`,
		`{"operation":"history","request_id":"q","options":{}}`, `{"operation":"history","request_id":"q","text":""}`,
		`{"operation":"history","request_id":"q","role":null}`, `{"operation":"history","request_id":"q","type":"x"}`,
		`{"operation":"answer","request_id":"q"}`, answer(source, ``), answer(source, `,"part":0`),
		answer(source, `,"offset":0`), answer(source, `,"part":-1,"offset":0`), answer(source, `,"part":0,"offset":"0"`),
		answer(source, `,"part":0,"offset":0,"options":{}`), answer(`null`, `,"part":0,"offset":0`),
		answer(`[]`, `,"part":0,"offset":0`), answer(`{}`, `,"part":0,"offset":0`),
		replace(`"worker_id":"w"`, `"worker_id":""`), replace(`"worker_id":"w",`, ``), replace(`"turn":3`, `"turn":"3"`),
		replace(`"18446744073709551615"`, `18446744073709551615`), replace(`18446744073709551615`, `18446744073709551616`),
		replace(`18446744073709551615`, `0`), replace(`18446744073709551615`, `01`), replace(`18446744073709551615`, `+1`),
		replace(`18446744073709551615`, ``), replace(`0123456789abcdef`, `0123456789ABCDEF`), replace(`0123456789abcdef`, ``),
		replace(`0123456789abcdef`, `0123456789abcdeg`), replace(`"step":0`, `"step":0,"more":1`),
	}
	for _, data := range bad {
		q, failed := wire.DecodeQuery([]byte(data))
		if q != nil || failed == nil || failed.Message == "" {
			t.Errorf("%s: accepted", data)
		}
	}
}

// A query's id is echoed if it is a string of at most 128 characters.
func TestQueryFailedEchoes(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, want string }{
		{`"q"`, `"q"`},
		{`7`, `null`},
		{`{"a":1}`, `null`},
		{`"` + strings.Repeat("ü", 128) + `"`, `"` + strings.Repeat("ü", 128) + `"`},
		{`"` + strings.Repeat("q", 129) + `"`, `null`},
		{`"` + strings.Repeat(`\u00fc`, 128) + `"`, `"` + strings.Repeat("ü", 128) + `"`},
	}
	for _, tt := range tests {
		failed := wire.NewQueryFailed(wire.OpAnswer, []byte(tt.id), "m", "c")
		got, err := wire.EncodeData(failed)
		want := `{"request_id":` + tt.want + `,"message":"m","code":"c"}`
		if err != nil || string(got) != want || failed.Event() != wire.EventAnswerError {
			t.Errorf("%s: got %s, want %s", tt.id, got, want)
		}
	}
}

func TestDecodeSignal(t *testing.T) {
	t.Parallel()
	good := map[string]wire.Signal{
		`{"operation":"status"}`:                  {Operation: wire.OpStatus},
		`{"operation":"options","x":null}`:        {Operation: wire.OpOptions},
		`{"operation":"shutdown"}`:                {Operation: wire.OpShutdown},
		`{"operation":"cancel","run_id":"r"}`:     {Operation: wire.OpCancel, RunID: "r"},
		`{"operation":"stream","enabled":true}`:   {Operation: wire.OpStream, Enabled: true},
		`{"operation":"stream","enabled": false}`: {Operation: wire.OpStream},
	}
	for data, want := range good {
		if got, err := wire.DecodeSignal([]byte(data)); err != nil || got != want {
			t.Errorf("%s: %+v %v", data, got, err)
		}
	}
	bad := map[string]string{ // data → field at fault
		`{}`: "operation", `{"operation":null}`: "operation", `{"operation":["status"]}`: "operation",
		`{"operation":"Status"}`: "operation", `{"operation":"kill"}`: "operation",
		`{"operation":"cancel"}`: "run_id", `{"operation":"cancel","run_id":""}`: "run_id",
		`{"operation":"cancel","run_id":null}`: "run_id", `{"operation":"cancel","run_id":5}`: "run_id",
		`{"operation":"stream"}`: "enabled", `{"operation":"stream","enabled":null}`: "enabled",
		`{"operation":"stream","enabled":"true"}`: "enabled", `{"operation":"stream","enabled":1}`: "enabled",
		`{"operation":"status"`: "data", `[]`: "data",
	}
	for data, field := range bad {
		_, err := wire.DecodeSignal([]byte(data))
		if got, ok := errors.AsType[*wire.SignalError](err); !ok || got.Field != field {
			t.Errorf("%s: %v, want field %s", data, err, field)
		}
	}
}
