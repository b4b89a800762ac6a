package llm

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"simplex/state"
)

func object(t *testing.T, raw string) state.Object {
	t.Helper()
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestChoiceIsAllOrNothing(t *testing.T) {
	t.Parallel()
	available := []Option{{"model", []string{"small", "big"}}, {"reasoning_effort", []string{"low", "high"}}}
	for raw, fine := range map[string]bool{
		`{}`:              true,
		`{"model":"big"}`: true,
		`{"model":"big","reasoning_effort":"low"}`: true,
		`{"model":"huge"}`:                         false,
		`{"model":"big","temperature":"1"}`:        false,
		`{"model":null}`:                           false,
		`{"model":["big"]}`:                        false,
		`{"endpoint":"x"}`:                         false,
	} {
		err := CheckChoice(object(t, raw), available)
		if (err == nil) != fine || err != nil && !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if err := CheckChoice(state.Object{}, available); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("null: %v", err)
	}
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	// From the table in RFC 7386, appendix A.
	for _, test := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		got := mergePatch(object(t, test[0]).Value, object(t, test[1]).Value)
		if got.String() != test[2] {
			t.Errorf("%s + %s = %s, want %s", test[0], test[1], got, test[2])
		}
	}
}

func TestPatchSettingsKeepsTheModel(t *testing.T) {
	t.Parallel()
	settings := object(t, `{"model":"m","temperature":0.5}`)
	for patch, fine := range map[string]bool{
		`{"temperature":null}`: true,
		`{"model":"other"}`:    true,
		`{"model":""}`:         false,
		`{"model":null}`:       false,
		`{"model":4}`:          false,
		`{"endpoint":{}}`:      false,
		`{"retry":{}}`:         false,
		`{"provider":"x"}`:     false,
	} {
		if _, err := PatchSettings(settings, object(t, patch)); (err == nil) != fine {
			t.Errorf("%s: %v", patch, err)
		}
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	base := Endpoint{BaseURL: "https://a", RequestPath: "/p", ExtraHeaders: map[string]string{"A": "1"}}
	got := base.Overlay(Endpoint{BaseURL: "https://b", Auth: Auth{APIKey: "k"}, ExtraHeaders: map[string]string{"B": "2"}})
	want := Endpoint{
		BaseURL: "https://b", RequestPath: "/p", Auth: Auth{APIKey: "k"},
		ExtraHeaders: map[string]string{"A": "1", "B": "2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(base.ExtraHeaders) != 1 {
		t.Error("the base was written to")
	}
}

func TestErrorTexts(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*Error{
		"SSE request rejected: HTTP 429 Too Many Requests to POST https://h/v1/chat/completions: slow down (after 4 tries)": {
			Stage: StageRejected, URL: "https://h/v1/chat/completions", Status: 429, Message: "slow down", Tries: 4,
		},
		"SSE request rejected: HTTP 404 Not Found to POST https://h/v1/v1/responses (the path has /v1 twice: " +
			"leave it out of endpoint.base_url, because endpoint.request_path begins with it): no such path": {
			Stage: StageRejected, URL: "https://h/v1/v1/responses", Status: 404, Message: "no such path",
		},
		"SSE request rejected: HTTP 599": {Stage: StageRejected, Status: 599, Tries: 1},
		"no connection to the model server for POST https://h/v1: tls: it speaks plain (the server seems to speak plain http: begin endpoint.base_url with http://)": {
			Stage: StageConnect, URL: "https://h/v1", Err: tls.RecordHeaderError{Msg: "it speaks plain"},
		},
		"POST https://h/v1 could not be sent to the model server: " + ErrWriteTimeout.Error():                                             {Stage: StageWrite, URL: "https://h/v1", Err: ErrWriteTimeout},
		"the model request could not be made: " + ErrEmptyRequest.Error():                                                                 {Stage: StageRequest, Err: ErrEmptyRequest},
		"the model's answer makes no sense: " + ErrTruncated.Error():                                                                      {Stage: StageAssembly, Err: ErrTruncated},
		"the model server answered the request with an error 429: quota":                                                                  {Stage: StageProvider, Status: 429, Message: "quota"},
		`the model's answer is not complete: finish_reason "eos"`:                                                                         {Stage: StageFinish, Code: "eos"},
		"no whole answer of the model server to the request: " + ErrTruncated.Error():                                                     {Stage: StageRead, Err: ErrTruncated},
		"no whole answer of the model server to POST https://h/v1: " + strings.Join([]string{ErrIdleTimeout.Error(), "so it says"}, ": "): {URL: "https://h/v1", Stage: StageRead, Err: ErrIdleTimeout, Message: "so it says"},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
