package client_test

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"simplex/tools/mcp/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// streams are the two pipes between a client and a server.
type streams struct{ fromServer, toServer, fromClient, toClient *os.File }

func pipes(t testing.TB) streams {
	t.Helper()
	var s streams
	var err [2]error
	s.fromServer, s.toClient, err[0] = os.Pipe()
	s.fromClient, s.toServer, err[1] = os.Pipe()
	if err := errors.Join(err[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{s.fromServer, s.toServer, s.fromClient, s.toClient} {
			_ = f.Close()
		}
	})
	return s
}

// peer is a server that the test plays by hand.
type peer struct {
	t   testing.TB
	in  *bufio.Reader
	out *os.File
	all streams
}

// says sends a line.
func (p *peer) says(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.out, format+"\n", args...); err != nil {
		p.t.Errorf("the peer: %v", err)
	}
}

// hears gives the next line of the client.
func (p *peer) hears() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Errorf("the peer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// asked gives the id of the next request, which must be of that method.
func (p *peer) asked(method string) int {
	p.t.Helper()
	var m struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
	}
	line := p.hears()
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != method {
		p.t.Errorf("the client sent %s, want %s", line, method)
	}
	return m.ID
}

func (p *peer) welcome(revision string) {
	p.t.Helper()
	p.says(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":{},"serverInfo":{"name":"peer","version":"1"}}}`,
		p.asked("initialize"), revision)
}

// meet connects a client with a peer that keeps to the protocol so far.
func meet(t testing.TB, limit int) (*client.Session, *peer) {
	t.Helper()
	s := pipes(t)
	p := &peer{t: t, in: bufio.NewReader(s.fromClient), out: s.toClient, all: s}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.welcome("2025-11-25")
		p.asked("notifications/initialized")
	}()
	c, err := client.Connect(t.Context(), client.Config{In: s.fromServer, Out: s.toServer, Version: "test", MaxMessageBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	<-done
	return c, p
}

// called is a call under way.
type called struct {
	text string
	err  error
}

func call(ctx context.Context, c *client.Session, arguments string) <-chan called {
	out := make(chan called, 1)
	go func() {
		r, err := c.CallTool(ctx, "tool", []byte(arguments))
		text := ""
		if err == nil && len(r.Content) > 0 {
			text = r.Content[0].Text
		}
		out <- called{text, err}
	}()
	return out
}

func result(id int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string // for the id
		is     error  // nil is success
		want   string
	}{
		{answer: `{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":"2024-11-05"}}`},
		{answer: `{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":"2026-07-28"}}`, is: client.ErrProtocol, want: `revision "2026-07-28"`},
		{answer: `{"jsonrpc":"2.0","id":%d,"result":{}}`, is: client.ErrProtocol, want: `revision ""`},
		{answer: `{"jsonrpc":"2.0","id":%d,"result":null}`, is: client.ErrProtocol, want: `revision ""`},
		{answer: `{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"Unsupported protocol version"}}`, want: "Unsupported protocol version (code -32602)"},
		{answer: `{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":5}}`, want: "the answer to initialize"},
		{answer: `{"jsonrpc":"2.0","id":%d}`, want: "neither a result nor an error"},
		{answer: `Listening, %d`, is: client.ErrProtocol, want: "no JSON"},
	} {
		s := pipes(t)
		p := &peer{t: t, in: bufio.NewReader(s.fromClient), out: s.toClient}
		first := make(chan string, 1)
		go func() {
			first <- p.hears()
			p.says(c.answer, 1)
		}()
		session, err := client.Connect(t.Context(), client.Config{In: s.fromServer, Out: s.toServer, Version: `1.0 "x"`})
		if want := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
			`"clientInfo":{"name":"simplex","version":"1.0 \"x\""}}}`; want != <-first {
			t.Errorf("the first message is not %s", want)
		}
		if good := c.is == nil && c.want == ""; good {
			if err != nil {
				t.Fatal(err)
			}
			if got := p.hears(); got != `{"jsonrpc":"2.0","method":"notifications/initialized"}` {
				t.Errorf("the second message: %s", got)
			}
			session.Close()
			continue
		}
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.answer, err)
		}
	}
}

func TestHandshakeThatIsGivenUp(t *testing.T) {
	t.Parallel()
	s := pipes(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &peer{t: t, in: bufio.NewReader(s.fromClient)}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		p.asked("initialize")
		cancel()
	}()
	if _, err := client.Connect(ctx, client.Config{In: s.fromServer, Out: s.toServer}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-asked
	if more, err := io.ReadAll(p.in); err != nil || len(more) > 0 {
		t.Errorf("then came %s, %v", more, err) // initialize may not be cancelled
	}
}

func TestAnswersFindTheirCalls(t *testing.T) {
	t.Parallel()
	c, p := meet(t, 0)
	one := call(t.Context(), c, `{"z":1,"a":[1.50]}`)
	line := p.hears()
	if want := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tool","arguments":{"z":1,"a":[1.50]}}}`; line != want {
		t.Errorf("sent: %s", line)
	}
	two := call(t.Context(), c, `{}`)
	second := p.asked("tools/call")
	p.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}`)
	p.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	p.says(`{"jsonrpc":"2.0","id":99,"result":{}}`)
	p.says(`{"jsonrpc":"2.0","id":"2","result":{}}`)
	p.says(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	p.says(`  `)
	p.says(`[%s,{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"not now"}}]`, result(2, "first"), second)
	if got := <-one; got.err != nil || got.text != "first" {
		t.Errorf("%+v", got)
	}
	refused, ok := errors.AsType[*client.Error]((<-two).err)
	if !ok || refused.Code != -1 || refused.Message != "not now" {
		t.Errorf("%+v", refused)
	}
	p.says(`%s`, result(2, "again"))
	p.says(`{"jsonrpc":"2.0","id":"x","method":"ping"}`) // all before has been read when it is answered
	if got := p.hears(); got != `{"jsonrpc":"2.0","id":"x","result":{}}` {
		t.Errorf("ping: %s", got)
	}
}

func TestRequestsOfTheServer(t *testing.T) {
	t.Parallel()
	_, p := meet(t, 0)
	for _, c := range []struct{ request, want string }{
		{`{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping","params":{}}`, `{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}`},
		{
			`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`,
			`{"jsonrpc":"2.0","id":"r","error":{"code":-32601,"message":"this client does not offer the method"}}`,
		},
		{
			` [{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
			`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]`,
		},
	} {
		p.says(`%s`, c.request)
		if got := p.hears(); got != c.want {
			t.Errorf("%s: %s", c.request, got)
		}
	}
}

// A server that asks and asks, and never takes an answer, costs bounded memory and
// does not keep calls from their answers.
func TestAnswersThatAreNotTaken(t *testing.T) {
	t.Parallel()
	c, p := meet(t, 0)
	one := call(t.Context(), c, `{}`)
	id := p.asked("tools/call")
	ping := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"ping"}`+"\n", strings.Repeat("x", 900))
	p.says("%s", strings.Repeat(ping, 1000)) // the answers are more than the pipe and the notes hold
	p.says(`{"jsonrpc":"2.0","id":"%s","method":"ping"}`, strings.Repeat("x", 1<<20))
	p.says(`%s`, result(id, "still"))
	if got := <-one; got.text != "still" {
		t.Errorf("%+v", got)
	}
}

func TestCancelledCalls(t *testing.T) {
	t.Parallel()
	c, p := meet(t, 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	one := call(ctx, c, `{}`)
	id := p.asked("tools/call")
	cancel(errors.New("changed my mind"))
	if got := <-one; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	if got, want := p.hears(), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"changed my mind"}}`, id); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.says(`%s`, result(id, "late"))
	two := call(t.Context(), c, `{}`)
	p.says(`%s`, result(p.asked("tools/call"), "next"))
	if got := <-two; got.text != "next" {
		t.Errorf("%+v", got)
	}
	if got := <-call(ctx, c, `{}`); !errors.Is(got.err, context.Canceled) {
		t.Errorf("a call that comes too late: %+v", got)
	}
}

// A server that takes nothing holds up nobody's deadline, neither that of a call it got
// half of nor that of the one behind it.
func TestDeadlineWhileNothingIsTaken(t *testing.T) {
	t.Parallel()
	c, _ := meet(t, 0)
	big := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if got := <-call(ctx, c, big); !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("%+v", got)
		}
		cancel()
	}
}

func TestEndOfTheStream(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		last string // before the end
		is   error
		want string
		text string // of the first call
	}{
		{name: "end", is: client.ErrLost, want: "EOF"},
		{name: "half a message", last: `{"jsonrpc":"2.0","id":`, is: client.ErrLost, want: "EOF"},
		{name: "a message without its end", last: result(2, "whole"), is: client.ErrLost, text: "whole"},
		{name: "noise", last: "Goodbye!\n", is: client.ErrProtocol, want: "no JSON"},
		{name: "a long line", last: strings.Repeat(" ", 2000) + "\n", is: client.ErrProtocol, want: "a message of more than 1000 bytes"},
		{name: "a long line without an end", last: strings.Repeat("x", 100_000), is: client.ErrProtocol, want: "a message of more than 1000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, p := meet(t, 1000)
			one := call(t.Context(), s, `{}`)
			p.asked("tools/call")
			two := call(t.Context(), s, `{}`)
			p.asked("tools/call")
			if _, err := p.out.WriteString(c.last); err != nil && c.is != client.ErrProtocol {
				t.Error(err)
			}
			_ = p.out.Close()
			if got := <-one; got.text != c.text || c.text == "" && !errors.Is(got.err, c.is) {
				t.Errorf("the first: %+v", got)
			}
			if got := <-two; !errors.Is(got.err, c.is) || !strings.Contains(got.err.Error(), c.want) {
				t.Errorf("the second: %+v", got)
			}
			if got := <-call(t.Context(), s, `{}`); !errors.Is(got.err, c.is) {
				t.Errorf("afterwards: %+v", got)
			}
			if err := s.Err(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

// A server that does not listen any more is found out by the next call.
func TestBrokenInput(t *testing.T) {
	t.Parallel()
	c, p := meet(t, 0)
	_ = p.all.fromClient.Close()
	if got := <-call(t.Context(), c, `{}`); !errors.Is(got.err, client.ErrLost) {
		t.Errorf("%+v", got)
	}
	<-c.Done()
}

func TestCloseFailsCalls(t *testing.T) {
	t.Parallel()
	c, p := meet(t, 0)
	one := call(t.Context(), c, `{}`)
	p.asked("tools/call")
	c.Close()
	c.Close()
	if got := <-one; !errors.Is(got.err, client.ErrLost) {
		t.Errorf("%+v", got)
	}
}
