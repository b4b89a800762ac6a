package offline_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"simplex/llm/offline"
)

// TestAnotherClient: a client that we did not write reads the same streams.
func TestAnotherClient(t *testing.T) {
	t.Parallel()
	for scenario, want := range map[string]string{
		"text": "the offline model", "empty-choices": "from the first word to the last.",
		"index-zero": `{"command":"echo c.txt"`, "two-tools": `{"command":"echo second"`,
	} {
		server, err := offline.Start(offline.Config{Scenario: scenario})
		if err != nil {
			t.Fatal(err)
		}
		cfg := openai.DefaultConfig("key")
		cfg.BaseURL = server.URL() + "/v1"
		cfg.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		stream, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(t.Context(), openai.ChatCompletionRequest{
			Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "go"}},
		})
		if err != nil {
			t.Fatalf("%s: %v", scenario, err)
		}
		if got := heard(t, stream); !strings.Contains(got, want) {
			t.Errorf("%s: %s", scenario, got)
		}
		if err := errors.Join(stream.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	}
}

// heard is all text and all arguments of a stream.
func heard(t *testing.T, stream *openai.ChatCompletionStream) string {
	t.Helper()
	var out strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, choice := range chunk.Choices {
			out.WriteString(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				out.WriteString(call.Function.Arguments)
			}
		}
	}
}
