package conformance

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"simplex/hub/fakehub"
	"simplex/test/conformance/rig"
)

// fatal sends one frame, after which the worker must end with exit code 1 and not come
// back.
func fatal(kind int, frame string) func(t *testing.T) {
	return func(t *testing.T) {
		r := rig.New(t)
		p := r.Online()
		if err := r.Hub.SendRaw(kind, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		p.Exits(1)
		if err := r.Hub.Disconnected(rig.Deadline(t)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.Stderr.String(), "hub connection") {
			t.Errorf("stderr says nothing of the connection: %s", p.Stderr)
		}
	}
}

// harmless sends one frame, after which the worker must still answer.
func harmless(frame string) func(t *testing.T) {
	return func(t *testing.T) {
		r := rig.New(t)
		p := r.Online()
		if err := r.Hub.SendRaw(websocket.TextMessage, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		r.Until("status")
		p.Stop()
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	const text, binary = websocket.TextMessage, websocket.BinaryMessage
	status := `{"type":"signal","data":{"operation":"status"}}`
	play(t, []row{
		{"1", "a binary frame is fatal", fatal(binary, status)},
		{"1", "invalid JSON is fatal", fatal(text, `{"type":"signal","data":{`)},
		{"1", "text that is no UTF-8 is fatal", fatal(text, "{\"type\":\"signal\",\"data\":{\"operation\":\"\xff\"}}")},
		{"1", "text behind the value is fatal", fatal(text, status+`{}`)},
		{"1", "a duplicate member of the envelope is fatal", fatal(text, `{"type":"signal","type":"signal","data":{"operation":"status"}}`)},
		{"1", "no object is fatal", fatal(text, `["signal"]`)},
		{"1", "an unknown type is fatal", fatal(text, `{"type":"event","data":{}}`)},
		{"1", "a type that is no string is fatal", fatal(text, `{"type":7,"data":{}}`)},
		{"1", "no type is fatal", fatal(text, `{"data":{"operation":"status"}}`)},
		{"1", "no data is fatal", fatal(text, `{"type":"signal"}`)},
		{"1", "data that is no object is fatal", fatal(text, `{"type":"payload","data":[]}`)},
		{"2", "further envelope members are ignored", harmless(`{"v":9,"type":"signal","x":{"type":"nonsense"},"data":{"operation":"status","more":[1]}}`)},
		{"1", "white space around the value is JSON", harmless(" \n" + status + "\n")},
	})
}

func TestEndpointRule(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"another scheme": "http://127.0.0.1:9/x", "scheme in capitals": "WS://127.0.0.1:9/x", "userinfo": "ws://u:p@127.0.0.1:9/x",
		"fragment": "ws://127.0.0.1:9/x#f", "space": "ws://127.0.0.1:9/x y", "tab": "ws://127.0.0.1:9/x\ty", "no host": "ws://:9/x",
		"port 0": "ws://127.0.0.1:0/x", "port 65536": "ws://127.0.0.1:65536/x", "port in letters": "ws://127.0.0.1:nine/x", "nothing": "ws://",
	}
	var rows []row
	for name, url := range refused {
		rows = append(rows, row{"1", "endpoint refused: " + name, func(t *testing.T) {
			r := rig.New(t)
			r.Endpoint = url
			p := r.Start()
			p.Exits(1)
			if !strings.Contains(p.Stderr.String(), "/client/endpoint") {
				t.Errorf("stderr does not name the field: %s", p.Stderr)
			}
		}})
	}
	play(t, rows)
}

// refusal is a whole HTTP response to an upgrade.
func refusal(status string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
}

func TestConnecting(t *testing.T) {
	t.Parallel()
	play(t, []row{
		{"1", "refusals of every kind are tried again", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			v := r.Through()
			v.Answer(refusal("401 Unauthorized"), refusal("403 Forbidden"), refusal("500 Internal Server Error"), refusal("302 Found"),
				"", "no HTTP at all\r\n\r\n", refusal("200 OK"))
			p := r.Start()
			v.Connections(t, 8)
			r.Expect("ready") // once, although every attempt but the last failed
			r.Payload(rig.Message("q1", "one"))
			r.Completes()
			if text := p.Stderr.String(); strings.Contains(text, fakehub.Token) {
				t.Errorf("the token is in the log: %s", text)
			}
			p.Stop()
		}},
		{"1", "a host without an address is tried again", func(t *testing.T) {
			r := rig.New(t)
			r.Endpoint = "ws://simplex-hub.invalid:9/events?token=" + fakehub.Token
			p := r.Start()
			p.Says("hub connection failed", 2)
			p.Stop()
		}},
		{"1", "a certificate that nobody vouches for is tried again and gets no request", func(t *testing.T) {
			var served atomic.Int32
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
			s.Config.ErrorLog = quiet()
			s.StartTLS()
			defer s.Close()
			r := rig.New(t)
			r.Endpoint = strings.Replace(s.URL, "https", "wss", 1) + "/events"
			p := r.Start()
			p.Says("hub connection failed", 2)
			p.Stop()
			if served.Load() > 0 {
				t.Error("the request was sent to a host that is not who it says")
			}
		}},
		{"1", "a half-open link is noticed by pings", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "ok"})
			v := r.Through()
			r.Transport = "initial_backoff_ms: 20, max_backoff_ms: 100, idle_timeout_seconds: 1"
			p := r.Online()
			v.Freeze() // the sockets stay open, nothing comes back
			v.Connections(t, 2)
			v.Thaw()
			if err := r.Hub.Connected(rig.Deadline(t), 2); err != nil {
				t.Fatal(err)
			}
			r.Payload(rig.Message("q1", "one"))
			r.Completes()
			p.Stop()
		}},
		{"1", "one session has one process", func(t *testing.T) {
			r := rig.New(t)
			p := r.Online()
			second := r.Start()
			second.Exits(1)
			if !strings.Contains(second.Stderr.String(), "in use") {
				t.Errorf("the loser says: %s", second.Stderr)
			}
			p.Stop()
		}},
		{"2", "ready is told once over reconnects, ids and sequences go on", func(t *testing.T) {
			r := rig.New(t, rig.Reply{Text: "one"}, rig.Reply{Text: "two"})
			p := r.Online()
			for i, id := range []string{"q1", "q2"} {
				if err := r.Hub.Connected(rig.Deadline(t), i+1); err != nil {
					t.Fatal(err)
				}
				r.Payload(rig.Message(id, id))
				r.Completes()
				r.Status()
				r.Hub.Drop()
			}
			continuous(t, r.Hub.Events())
			uuid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
			runs, ready := make(map[string]string), 0
			for _, e := range r.Hub.Events() {
				if !uuid.MatchString(e.WorkerID) {
					t.Errorf("worker_id %q", e.WorkerID)
				}
				switch {
				case e.Name == "ready":
					ready++
					if e.RequestID != "" || e.RunID != "" {
						t.Errorf("ids before the first admission: %s", e.Raw)
					}
				case !uuid.MatchString(e.RunID), runs[e.RequestID] != "" && runs[e.RequestID] != e.RunID:
					t.Errorf("ids of %s", e.Raw)
				default:
					runs[e.RequestID] = e.RunID
				}
			}
			if ready != 1 || len(runs) != 2 || runs["q1"] == runs["q2"] {
				t.Errorf("ready %d times, runs %v", ready, runs)
			}
			if err := r.Hub.Connected(rig.Deadline(t), 3); err != nil {
				t.Fatal(err)
			}
			p.Stop()
		}},
	})
}
