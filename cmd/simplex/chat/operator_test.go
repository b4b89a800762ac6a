package chat

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"simplex/hub/adapter"
	"simplex/load"
	"simplex/wire"
)

func TestNobodyWaitsForAnOperatorWhoLeft(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	op := newOperator(done)
	close(done)
	for range 200 { // more than the channel holds
		op.Event(&wire.Received{})
	}
	if d := op.Confirm(t.Context(), &wire.ConfirmRequest{}); d.Approved || d.Reason == "" {
		t.Errorf("decision %+v, want a denial with its reason", d)
	}
}

func TestQuestionEndsWithItsWorker(t *testing.T) {
	t.Parallel()
	op := newOperator(make(chan struct{}))
	ctx, cancel := context.WithCancel(t.Context())
	decided := make(chan adapter.Decision)
	go func() { decided <- op.Confirm(ctx, &wire.ConfirmRequest{CallName: "t"}) }()
	if q := <-op.questions; q.req.CallName != "t" {
		t.Errorf("question %+v", q.req)
	}
	cancel()
	if d := <-decided; d.Approved {
		t.Error("approved without an answer")
	}
}

func TestLinesOfAnyLength(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	var got []string
	for line := range readLines(t.Context(), strings.NewReader(long+"\r\n\nlast")) {
		got = append(got, line)
	}
	if len(got) != 3 || got[0] != long || got[1] != "" || got[2] != "last" {
		t.Errorf("%d lines", len(got))
	}
}

func TestYesIsYes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"y": true, " Y ": true, "yes": true, "YES": true,
		"": false, "n": false, "yy": false, "yes please": false, "ja": false,
	} {
		if isYes(line) != want {
			t.Errorf("%q", line)
		}
	}
}

func TestEndpointIsForItsWorkerOnly(t *testing.T) {
	t.Parallel()
	e, err := listen(adapter.New(adapter.Config{SessionID: "s1", Handler: newOperator(make(chan struct{}))}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if !strings.HasPrefix(e.addr, "127.0.0.1:") {
		t.Errorf("listens on %s", e.addr)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, path := range []string{"/events", "/confirm", "/events?token=", "/confirm?token=wrong", "/events?token=" + e.token + "x"} {
		r, err := client.Get("http://" + e.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if r.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

func TestConfiguredHubIsReplaced(t *testing.T) {
	t.Parallel()
	e, err := listen(adapter.New(adapter.Config{SessionID: "s1", Handler: newOperator(make(chan struct{}))}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	far, err := load.ParseEndpoint("ws://hub.example/events?token=other")
	if err != nil {
		t.Fatal(err)
	}
	given := &load.Config{
		Client:       &load.Client{Endpoint: far, PayloadCapacity: 7},
		Confirmation: &load.Remote{Endpoint: far},
		HubCall:      &load.Remote{Endpoint: far},
	}
	got, err := e.fillIn(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []load.Endpoint{got.Client.Endpoint, got.Confirmation.Endpoint} {
		if text := endpoint.String(); !strings.Contains(text, e.addr) || !strings.Contains(text, e.token) {
			t.Errorf("endpoint %s", text)
		}
	}
	if got.HubCall != nil || got.Client.PayloadCapacity != 7 || given.Client.Endpoint != far || given.HubCall == nil {
		t.Errorf("filled in %+v, given %+v", got, given)
	}
}
