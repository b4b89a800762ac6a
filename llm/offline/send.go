package offline

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"net/http"
)

// outgoing is an answer on its way.
type outgoing struct {
	Reply
	req *request
	n   int // number of the request
}

// send writes an answer as the protocol wants it. A client that goes ends it.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, o outgoing) {
	if o.Hang {
		<-ctx.Done()
		return
	}
	if !wait(ctx, o.Delay) {
		return
	}
	for name, value := range o.Header {
		w.Header().Set(name, value)
	}
	if o.Status != 0 {
		w.WriteHeader(o.Status)
		_, _ = io.WriteString(w, o.Body)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.Header().Set("Cache-Control", "no-cache")
	if o.Body != "" {
		_, _ = io.WriteString(w, o.Body)
		return
	}
	frames := o.chatFrames
	if o.req.responses {
		frames = o.responsesFrames
	}
	o.stream(ctx, w, frames())
}

// stream writes the events one by one.
func (o outgoing) stream(ctx context.Context, w http.ResponseWriter, frames []frame) {
	flush := http.NewResponseController(w).Flush
	var out bytes.Buffer
	for _, f := range frames {
		if !wait(ctx, o.Flaw.Pause) {
			return
		}
		out.Reset()
		o.write(&out, f)
		if _, err := w.Write(out.Bytes()); err != nil {
			return
		}
		_ = flush()
		if o.Flaw.Stall && f.content {
			<-ctx.Done()
			return
		}
	}
}

func (o outgoing) write(out *bytes.Buffer, f frame) {
	data := []byte("[DONE]")
	if f.data != nil {
		// Strings, numbers, maps and lists of them always encode.
		data, _ = json.Marshal(f.data, json.Deterministic(true))
	}
	if o.Flaw.Noise {
		noisy(out, f.name, data)
		return
	}
	if f.name != "" {
		out.WriteString("event: " + f.name + "\n")
	}
	out.WriteString("data: ")
	out.Write(data)
	out.WriteString("\n\n")
}

// noisy writes an event with everything around it that the rules of event streams
// allow and few servers send.
func noisy(out *bytes.Buffer, name string, data []byte) {
	out.WriteString(": processing\r\n\r\nevent: ping\r\n\r\n")
	if name != "" {
		out.WriteString("event:" + name + "\r\n")
	}
	if data[0] == '{' {
		out.WriteString("data:{\r\nid: 7\r\n: within\r\n")
		data = data[1:]
	}
	out.WriteString("data:")
	out.Write(data)
	out.WriteString("\r\n\r\n")
}

// fault is the error object of the flaw.
func (o outgoing) fault() jsontext.Value { return jsontext.Value(o.Flaw.Fault) }
