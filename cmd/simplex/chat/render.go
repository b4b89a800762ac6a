package chat

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"strings"

	"simplex/state"
	"simplex/wire"
)

// renderer shows one event stream to a person or to a program.
type renderer interface {
	event(e *wire.Received)
	question(req *wire.ConfirmRequest)
	decision(approved bool)
	answer(text string) // a whole one, in the place of one that was cut
	note(text string)
	prompt()
	fresh() // begins a new line
}

func newRenderer(cfg Config) renderer {
	people := &terminal{out: cfg.Stdout, err: cfg.Stderr, interactive: !cfg.Once}
	if cfg.JSON {
		return &lines{terminal: people, out: cfg.Stdout}
	}
	return people
}

// lines writes each event as one JSON line; questions still go to the terminal.
type lines struct {
	*terminal
	out io.Writer
}

func (l *lines) event(e *wire.Received) {
	_, _ = l.out.Write(append(wire.AppendEvent(nil, &e.Event), '\n'))
}

// terminal shows events to a person: answers on out, the rest on err.
type terminal struct {
	out, err    io.Writer
	interactive bool
	streamed    string // shown of the response under way, as it came
	spent       tokens // in the run under way
	session     tokens // since this chat began
}

// tokens is what models took and gave.
type tokens struct {
	Prompt    uint64 `json:"prompt"`
	Generated uint64 `json:"generated"`
	CacheHit  uint64 `json:"cache_hit"`
}

func (t tokens) plus(u tokens) tokens {
	return tokens{t.Prompt + u.Prompt, t.Generated + u.Generated, t.CacheHit + u.CacheHit}
}

func (t tokens) String() string {
	return fmt.Sprintf("%d in (%d cached), %d out", t.Prompt, t.CacheHit, t.Generated)
}

func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

func (t *terminal) note(text string) { t.printf("-- %s", clean(text)) }

func (t *terminal) fresh() { fmt.Fprintln(t.err) }

func (t *terminal) prompt() {
	if t.interactive {
		fmt.Fprint(t.err, "> ")
	}
}

func (t *terminal) question(req *wire.ConfirmRequest) {
	arguments, _ := req.Call.Get("arguments")
	fmt.Fprintf(t.err, "?? allow %s %s [y/N] ", clean(req.CallName), clean(arguments.String()))
}

func (t *terminal) decision(approved bool) {
	word := "denied"
	if approved {
		word = "approved"
	}
	t.printf("-- %s", word)
}

func (t *terminal) event(e *wire.Received) {
	switch e.Name {
	case wire.EventModelDelta:
		t.delta(e.Data)
	case wire.EventModelResponse:
		t.response(e.Data)
	case wire.EventToolCalls:
		t.calls(e.Data)
	case wire.EventToolResults:
		t.results(e.Data)
	case wire.EventInputRejected, wire.EventError, wire.EventExportError:
		var m struct {
			Message string `json:"message"`
		}
		_ = decode(e.Data, &m)
		t.printf("!! %s", clean(m.Message))
	case wire.EventRunFinished:
		t.finished(e.Data)
	}
}

// delta shows a piece of the response as it comes. Pieces may be missing; the response
// itself is then shown again, whole.
func (t *terminal) delta(data jsontext.Value) {
	var d wire.ModelDelta
	if decode(data, &d) != nil || d.Kind != "text" {
		return
	}
	t.streamed += d.Text
	fmt.Fprint(t.out, clean(d.Text))
}

// message is what a person is shown of a model's response.
type message struct {
	Content []part `json:"content"`
	Invokes []struct {
		Name string `json:"name"`
	} `json:"invokes"`
	Cost tokens `json:"cost"`
}

type part struct {
	Type      state.ContentType `json:"type"`
	Raw       string            `json:"raw"`
	Truncated bool              `json:"truncated"`
	Bytes     int               `json:"bytes"` // of the original, where it is cut
}

// cut says what a shortened part lacks, "" for a whole one.
func (p part) cut() string {
	if !p.Truncated {
		return ""
	}
	return fmt.Sprintf("[%d of %d bytes shown]", len(p.Raw), p.Bytes)
}

func (t *terminal) response(data jsontext.Value) {
	var m message
	_ = decode(data, &m)
	var whole cutAnswer
	_ = decode(data, &whole)
	t.spent = t.spent.plus(m.Cost)
	var text strings.Builder
	for _, p := range m.Content {
		if p.Type == state.TypeText {
			text.WriteString(p.Raw)
		}
	}
	shown := t.streamed
	t.streamed = ""
	if shown != "" {
		fmt.Fprintln(t.out)
	}
	switch {
	case text.Len() == 0 || text.String() == shown || whole.incomplete():
	case len(m.Invokes) > 0:
		t.printf("%s", clean(text.String()))
	default:
		t.answer(text.String())
	}
}

func (t *terminal) answer(text string) { fmt.Fprintln(t.out, clean(text)) }

func (t *terminal) calls(data jsontext.Value) {
	var calls []struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
		Omitted   int            `json:"omitted_items"`
	}
	_ = decode(data, &calls)
	for _, c := range calls {
		if c.Omitted > 0 {
			t.printf("=> [%d more calls are not shown]", c.Omitted)
			continue
		}
		t.printf("=> %s %s", clean(c.Name), clean(string(c.Arguments)))
	}
}

func (t *terminal) results(data jsontext.Value) {
	var results []struct {
		Output  part `json:"output"`
		Omitted int  `json:"omitted_items"`
	}
	_ = decode(data, &results)
	var text strings.Builder
	for _, r := range results {
		for line := range strings.Lines(r.Output.Raw) {
			text.WriteString("   " + clean(strings.TrimRight(line, "\r\n")) + "\n")
		}
		if note := r.Output.cut(); note != "" {
			text.WriteString("   " + note + "\n")
		}
		if r.Omitted > 0 {
			fmt.Fprintf(&text, "   [%d more results are not shown]\n", r.Omitted)
		}
	}
	_, _ = io.WriteString(t.err, text.String())
}

func (t *terminal) finished(data jsontext.Value) {
	var end struct {
		Status wire.RunStatus `json:"status"`
		Error  string         `json:"error"`
	}
	_ = decode(data, &end)
	t.costs()
	switch {
	case end.Status == wire.RunCompleted:
	case end.Error == "":
		t.printf("!! run %s", end.Status)
	default:
		t.printf("!! run %s: %s", end.Status, clean(end.Error))
	}
}

// costs tells what the run took; a provider that reports no usage costs nothing here.
func (t *terminal) costs() {
	if t.spent == (tokens{}) {
		return
	}
	t.session = t.session.plus(t.spent)
	line := "tokens: " + t.spent.String()
	if t.session != t.spent {
		line += "; in this chat: " + t.session.String()
	}
	t.note(line)
	t.spent = tokens{}
}

// clean keeps text from steering the terminal or the eye: control characters other than
// tab and line feed, and those that change the direction of writing, are shown as U+FFFD.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < ' ' || r >= 0x7f && r <= 0x9f, isDirection(r):
			return '\uFFFD'
		}
		return r
	}, s)
}

func isDirection(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func decode(data jsontext.Value, out any) error {
	return json.Unmarshal(data, out, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
