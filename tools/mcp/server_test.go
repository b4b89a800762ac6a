package mcp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"simplex/process/sandbox"
)

// modeVariable makes the test program a server of that mode.
const modeVariable = "MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	sandbox.ConfineMain(os.Args)
	if mode, ok := os.LookupEnv(modeVariable); ok {
		serve(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// serve is a small server, made with the SDK, that misbehaves as its mode says.
func serve(mode string) {
	switch mode {
	case "silent":
		time.Sleep(time.Hour)
	case "exits":
		fmt.Fprintln(os.Stderr, "cannot find my data, KEY is", os.Getenv("SECRET_KEY"))
		os.Exit(3)
	case "noise":
		fmt.Println("Welcome to the server!")
		time.Sleep(time.Hour)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "once": // runs the first time only
		if _, err := os.Stat("ran"); err == nil {
			os.Exit(4)
		}
		_ = os.WriteFile("ran", nil, 0o600)
	case "flood":
		for i := range 3000 {
			fmt.Fprintf(os.Stderr, "line %d %s\n", i, strings.Repeat("x", 2000))
		}
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	addTools(s, mode)
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	if mode == "stubborn" {
		time.Sleep(time.Hour)
	}
}

func addTools(s *sdk.Server, mode string) {
	switch mode {
	case "shadow":
		addTool(s, "run_command", func(arguments) *sdk.CallToolResult { return nil })
	case "names":
		addTool(s, "dotted.name", func(arguments) *sdk.CallToolResult { return nil })
		addTool(s, strings.Repeat("n", 60), func(arguments) *sdk.CallToolResult { return nil })
	}
	s.AddTool(&sdk.Tool{Name: "free", Description: "takes what it is given", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return say(string(r.Params.Arguments)), nil
		})
	addTool(s, "echo", func(a arguments) *sdk.CallToolResult { return say(a.Text) })
	addTool(s, "fail", func(a arguments) *sdk.CallToolResult {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}
	})
	addTool(s, "big", func(a arguments) *sdk.CallToolResult { return say(strings.Repeat("é", a.Count)) })
	addTool(s, "mixed", func(arguments) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "a\x00picture"},
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 1<<20)},
			&sdk.ResourceLink{Name: "readme", URI: "file:///r"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///e", Text: "inside"}},
		}}
	})
	addTool(s, "structured", func(arguments) *sdk.CallToolResult {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"b": 1, "a": []int{2}}}
	})
	addTool(s, "die", func(arguments) *sdk.CallToolResult { os.Exit(7); return nil })
	addTool(s, "hang", func(arguments) *sdk.CallToolResult { time.Sleep(time.Hour); return nil })
	addTool(s, "huge", func(arguments) *sdk.CallToolResult { return say(strings.Repeat("x", 2<<20)) })
	addTool(s, "sh", func(a arguments) *sdk.CallToolResult {
		out, err := exec.Command("/bin/sh", "-c", a.Text).CombinedOutput()
		return say(fmt.Sprintf("%s%v", out, err))
	})
	addTool(s, "self", func(arguments) *sdk.CallToolResult {
		group, _ := unix.Getpgid(0)
		dir, _ := os.Getwd()
		return say(fmt.Sprintf("leads=%v dir=%s env=%s", group == os.Getpid(), dir, strings.Join(os.Environ(), ",")))
	})
	addTool(s, "pid", func(arguments) *sdk.CallToolResult { return say(fmt.Sprint(os.Getpid())) })
	addTool(s, "stop", func(arguments) *sdk.CallToolResult {
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
		time.Sleep(time.Hour)
		return nil
	})
}

type arguments struct {
	Text  string `json:"text,omitempty"`
	Count int    `json:"count,omitempty"`
}

func say(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func addTool(s *sdk.Server, name string, do func(arguments) *sdk.CallToolResult) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: "does " + name},
		func(_ context.Context, _ *sdk.CallToolRequest, a arguments) (*sdk.CallToolResult, any, error) {
			return do(a), nil, nil
		})
}
