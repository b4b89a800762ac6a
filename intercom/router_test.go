package intercom_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"simplex/intercom"
	"simplex/wire"
)

func handle(t *testing.T, r *intercom.Router, messages ...string) {
	t.Helper()
	for _, m := range messages {
		if err := r.Handle([]byte(m)); err != nil {
			t.Fatalf("%.80s: %v", m, err)
		}
	}
}

const (
	input   = `{"type":"payload","data":{"operation":"message","request_id":"r"}}`
	history = `{"type":"payload","data":{"operation":"history","request_id":"q"}}`
	status  = `{"type":"signal","data":{"operation":"status"}}`
)

func TestRouterSorts(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{})
	handle(t, r, input, history, status,
		`{"type":"payload","data":{"operation":"answer"}}`,
		`{"type":"payload","data":{"operation":7}}`, `{"type":"payload","data":{}}`, `{"type":"signal","data":{}}`)
	if n := []int{r.Waiting(), len(r.Queries()), len(r.Signals()), len(r.Feedback())}; n[0] != 3 || n[1] != 2 || n[2] != 2 || n[3] != 0 {
		t.Errorf("queues hold %v", n)
	}
	f, err := r.NextPayload(t.Context())
	if err != nil || f.Op() != wire.OpMessage || string(f.RequestID) != `"r"` {
		t.Errorf("%+v %v", f, err)
	}
	if c := r.Counters(); c != (intercom.Counters{}) {
		t.Errorf("%+v", c)
	}
}

func TestRouterFullQueues(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{Payloads: 1, Queries: 2, Signals: 1})
	handle(t, r, input, history, history, status)
	long := strings.Repeat("x", 600)
	handle(t, r,
		`{"type":"payload","data":{"operation":"compact","request_id":"r2"}}`,
		`{"type":"payload","data":{"operation":"answer","request_id":"`+long+`"}}`,
		history, input, input)
	want := []struct {
		event wire.EventName
		id    string
		data  string
	}{
		{wire.EventInputRejected, "r2", `{"request_id":"r2","message":"the payload queue is full","operation":"compact","code":"payload_queue_full"}`},
		{wire.EventAnswerError, "", `{"request_id":null,"message":"the query queue is full","code":"query_queue_full"}`},
	}
	for _, w := range want {
		f := receive(t, r.Feedback())
		data, err := wire.EncodeData(f.Data())
		if err != nil || f.Event() != w.event || f.ID() != w.id || string(data) != w.data {
			t.Errorf("%s %q %s", f.Event(), f.ID(), data)
		}
	}
	if c := r.Counters(); c != (intercom.Counters{RejectedPayloads: 3, RejectedQueries: 2, UnreportedRejections: 3}) {
		t.Errorf("%+v", c)
	}
	if err := r.Handle([]byte(status)); !errors.Is(err, intercom.ErrSignalsFull) {
		t.Errorf("second signal: %v", err)
	}
}

// A payload rejected because the queue is full echoes at most 512 bytes of id and 128 of
// operation.
func TestRouterBoundsFeedback(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{Payloads: 1})
	handle(t, r, input, `{"type":"payload","data":{"request_id":"`+strings.Repeat("r", 511)+`","operation":"`+strings.Repeat("o", 127)+`"}}`)
	data, err := wire.EncodeData(receive(t, r.Feedback()).Data())
	if want := `{"request_id":null,"message":"the payload queue is full","operation":null,"code":"payload_queue_full"}`; err != nil || string(data) != want {
		t.Errorf("%s %v", data, err)
	}
}

func TestRouterQueryTooLarge(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{})
	pad := func(n int) string {
		head, tail := `{"type":"payload","data":{"operation":"answer","request_id":"q","x":"`, `"}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	handle(t, r, pad(16<<10), pad(16<<10+1))
	f := receive(t, r.Feedback())
	if f.Query == nil || f.Query.Code != wire.CodeQueryTooLarge || f.ID() != "q" || f.Event() != wire.EventAnswerError || len(r.Queries()) != 1 {
		t.Errorf("%+v, %d queries", f.Query, len(r.Queries()))
	}
}

func TestRouterRefusesJunk(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{})
	for _, m := range []string{``, `x`, `[]`, `{}`, `{"type":"event","data":{}}`, `{"type":"payload","data":[]}`, `{"type":"payload","data":{}} ` + "\xff"} {
		err := r.Handle([]byte(m))
		if _, ok := errors.AsType[*wire.FrameError](err); !ok {
			t.Errorf("%q: %v", m, err)
		}
	}
}

func TestRouterHasOneSubscriber(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.NextPayload(ctx)
			results <- err
		}()
	}
	if err := receive(t, results); !errors.Is(err, intercom.ErrOutstandingNext) {
		t.Errorf("second subscriber: %v", err)
	}
	cancel()
	if err := receive(t, results); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// However few of them there are, payloads that wait hold a bounded number of bytes.
func TestRouterBoundsPayloadBytes(t *testing.T) {
	t.Parallel()
	r := intercom.NewRouter(intercom.RouterConfig{})
	big := `{"type":"payload","data":{"operation":"message","request_id":"r","x":"` + strings.Repeat("x", wire.MaxInbound-100) + `"}}`
	for r.Counters().RejectedPayloads == 0 {
		handle(t, r, big)
	}
	if n := r.Waiting(); n != wire.PayloadBytes/wire.MaxInbound {
		t.Errorf("%d wait", n)
	}
	if _, err := r.NextPayload(t.Context()); err != nil {
		t.Fatal(err)
	}
	handle(t, r, big)
	if c := r.Counters(); c.RejectedPayloads != 1 {
		t.Errorf("%+v", c)
	}
}
