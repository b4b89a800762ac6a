package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"simplex/tools/mcp/client"
)

// withSDK connects to a server made with the SDK, the independent reading of the protocol.
func withSDK(t *testing.T, options *sdk.ServerOptions, add func(*sdk.Server)) sdkSession {
	t.Helper()
	s := pipes(t)
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, options)
	add(server)
	running, err := server.Connect(t.Context(), &sdk.IOTransport{Reader: s.fromClient, Writer: s.toClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := &strings.Builder{}
	in := struct {
		io.Reader
		io.Closer
	}{io.TeeReader(s.fromServer, all), s.fromServer}
	c, err := client.Connect(t.Context(), client.Config{In: in, Out: s.toServer, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		c.Close()
		_ = running.Wait() // EOF
	})
	t.Cleanup(end)
	return sdkSession{c, func() string {
		end()
		return all.String()
	}}
}

// sdkSession is a session with such a server.
type sdkSession struct {
	*client.Session
	heard func() string // ends it and gives all that the server has sent
}

// handler is a tool that answers a text.
func handler(s *sdk.Server, name string, do func(context.Context, *sdk.CallToolRequest) (string, error)) {
	s.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			text, err := do(ctx, r)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, err
		})
}

func echo(s *sdk.Server) {
	handler(s, "tool", func(_ context.Context, r *sdk.CallToolRequest) (string, error) {
		return string(r.Params.Arguments), nil
	})
}

// A server that knows one old revision only answers with it.
func TestSDKRevisions(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := withSDK(t, &sdk.ServerOptions{SupportedProtocolVersions: []string{revision}}, echo)
		if got := <-call(t.Context(), c.Session, `{"n":1.50}`); got.err != nil || got.text != `{"n":1.50}` {
			t.Errorf("%s: %+v", revision, got)
		}
		if got := c.heard(); !strings.Contains(got, `"protocolVersion":"`+revision+`"`) {
			t.Errorf("%s: %s", revision, got)
		}
	}
}

func TestSDKPages(t *testing.T) {
	t.Parallel()
	c := withSDK(t, &sdk.ServerOptions{PageSize: 3}, func(s *sdk.Server) {
		for i := range 10 {
			handler(s, fmt.Sprint("tool", i), nil)
		}
	})
	got, err := c.Tools(t.Context(), 10)
	names := slices.Collect(func(yield func(string) bool) {
		for _, tool := range got {
			if !yield(tool.Name) {
				return
			}
		}
	})
	if err != nil || strings.Join(names, " ") != "tool0 tool1 tool2 tool3 tool4 tool5 tool6 tool7 tool8 tool9" {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := c.Tools(t.Context(), 9); err == nil {
		t.Error("one too many passes")
	}
}

func TestSDKAsks(t *testing.T) {
	t.Parallel()
	c := withSDK(t, nil, func(s *sdk.Server) {
		handler(s, "tool", func(ctx context.Context, r *sdk.CallToolRequest) (string, error) {
			if err := r.Session.Ping(ctx, nil); err != nil {
				return "", err
			}
			if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: "p", Progress: 1}); err != nil {
				return "", err
			}
			echo(s) // tells of a changed list
			//lint:ignore SA1019 it is the one request that needs no capability of the client
			_, err := r.Session.ListRoots(ctx, nil)
			return fmt.Sprint(err), nil
		})
	})
	if got := <-call(t.Context(), c.Session, `{}`); got.err != nil || !strings.Contains(got.text, "does not offer the method") {
		t.Errorf("%+v", got)
	}
}

func TestSDKSeesCancellation(t *testing.T) {
	t.Parallel()
	started, ended := make(chan struct{}), make(chan struct{})
	c := withSDK(t, nil, func(s *sdk.Server) {
		handler(s, "tool", func(ctx context.Context, _ *sdk.CallToolRequest) (string, error) {
			close(started)
			<-ctx.Done()
			close(ended)
			return "too late", nil
		})
	})
	ctx, cancel := context.WithCancel(t.Context())
	one := call(ctx, c.Session, `{}`)
	<-started
	cancel()
	if got := <-one; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	<-ended
}

func TestSDKRefuses(t *testing.T) {
	t.Parallel()
	c := withSDK(t, nil, func(*sdk.Server) {})
	got := <-call(t.Context(), c.Session, `{}`)
	if refused, ok := errors.AsType[*client.Error](got.err); !ok || refused.Code != -32602 && refused.Code != -32601 {
		t.Errorf("%+v", got)
	}
}

func TestSDKManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	c := withSDK(t, nil, echo)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			arguments := fmt.Sprintf(`{"i":%d,"x":"%s"}`, i, strings.Repeat("x", i*10))
			if got := <-call(t.Context(), c.Session, arguments); got.err != nil || got.text != arguments {
				t.Errorf("%d: %+v", i, got)
			}
		})
	}
	all.Wait()
}
