package peers

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"testing"

	"simplex/llm/offline"
)

// fixtures is what the mock server aimock plays: a call of the real tool, an answer
// that is given only when its output came back, reasoning, and refusals.
const fixtures = `{"fixtures": [
	{"match": {"userMessage": "look around", "hasToolResult": false},
	 "response": {"content": "Let me see.", "toolCalls": [{"id": "call_1", "name": "run_command", "arguments": {"command": "echo peer-$((40+2))", "expected_runtime_milliseconds": 5000}}]}},
	{"match": {"userMessage": "look around", "toolResultContains": "peer-42"}, "response": {"content": "It printed peer-42."}},
	{"match": {"userMessage": "look around", "hasToolResult": true}, "response": {"content": "The tool's output did not arrive."}},
	{"match": {"userMessage": "two at once", "hasToolResult": false},
	 "response": {"toolCalls": [{"name": "run_command", "arguments": {"command": "echo one", "expected_runtime_milliseconds": 5000}}, {"name": "run_command", "arguments": {"command": "echo two", "expected_runtime_milliseconds": 5000}}]}},
	{"match": {"userMessage": "two at once", "toolResultContains": "two"}, "response": {"content": "Both ran."}},
	{"match": {"userMessage": "think"}, "response": {"content": "So it is.", "reasoning": "I wonder."}},
	{"match": {"userMessage": "too long"}, "response": {"error": {"message": "This model's maximum context length is 8192 tokens.", "type": "invalid_request_error", "code": "context_length_exceeded"}, "status": 400}},
	{"match": {"userMessage": "busy", "sequenceIndex": 0}, "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429}},
	{"match": {"userMessage": "busy"}, "response": {"content": "Served at last."}},
	{"match": {"userMessage": "hello"}, "response": {"content": "Hello from the peer, in words that come in more than one piece."}}
]}`

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// protocols are the two plugins, aimed at a base URL.
func protocols(url string) map[string]string {
	const rest = "\nretry: { max_attempts: 2, initial_backoff_ms: 1, max_backoff_ms: 1500 }"
	endpoint := "\nendpoint: { base_url: \"" + url + "\", auth: { api_key: test-key-0123456789 } }" + rest
	return map[string]string{
		"openai-chat": "plugin: openai-chat\nmodel: gpt-5" + endpoint,
		"openai":      "plugin: openai\nmodel: gpt-5" + endpoint,
	}
}

// TestAimock: @copilotkit/aimock, in both protocols.
func TestAimock(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "fixtures.json"), fixtures)
	for plugin := range protocols("") {
		t.Run(plugin, func(t *testing.T) {
			dir := t.TempDir()
			url := peer(t, dir, "llmock", func(port string) []string { return []string{"-p", port, "-f", file, "--strict", "-c", "7"} })
			provider := protocols(url)[plugin]
			chat(t, dir, provider, "hello").answers(t, "Hello from the peer, in words that come in more than one piece.")
			chat(t, dir, provider, "look around").answers(t, "It printed peer-42.")
			chat(t, dir, provider, "two at once").answers(t, "Both ran.")
			chat(t, dir, provider, "think").answers(t, "So it is.")
			chat(t, dir, provider, "hello again").answers(t, "Hello from the peer")
			chat(t, t.TempDir(), provider, "too long").fails(t, "maximum context length is 8192")
			chat(t, t.TempDir(), provider, "busy").answers(t, "Served at last.")
			chat(t, t.TempDir(), provider, "nothing fits this").fails(t, "503")
		})
	}
}

// TestMockLLM: @dwmkerr/mock-llm, which streams text and sends errors under HTTP 200.
func TestMockLLM(t *testing.T) {
	dir := t.TempDir()
	rule := func(match, content string) map[string]any {
		return map[string]any{"path": "/v1/chat/completions", "match": match, "response": map[string]any{"status": 200, "content": content}}
	}
	config, err := json.Marshal(map[string]any{
		"streaming": map[string]any{"chunkSize": 5, "chunkIntervalMs": 1},
		"rules": []any{
			rule("@", `{"id":"c","object":"chat.completion","model":"m","choices":[{"message":{"role":"assistant","content":"echo: {{jmes request body.messages[-1].content}}"},"finish_reason":"stop"}]}`),
			rule("contains(body.messages[-1].content, 'refuse')", `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","code":"invalid_api_key"}}`),
			rule("contains(body.messages[-1].content, 'crowded')", `{"error":{"message":"Too many requests.","code":429}}`),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, "mock-llm.yaml"), string(config))
	url := peer(t, dir, "mock-llm", func(string) []string { return []string{"--config", file} })
	provider := protocols(url)["openai-chat"]
	chat(t, dir, provider, "say this").answers(t, "echo: say this")
	chat(t, dir, provider, "and this").answers(t, "echo: and this")
	chat(t, t.TempDir(), provider, "refuse me").fails(t, "Incorrect API key provided.")
	chat(t, t.TempDir(), provider, "crowded").fails(t, "Too many requests. (after 3 tries)")
}

// TestProxy: aimock between the program and our own offline server, so that requests,
// streams and refusals pass through other hands.
func TestProxy(t *testing.T) {
	for _, test := range []struct {
		scenario string
		words    string
		fails    bool
	}{
		{scenario: "strict", words: "files here: "},
		{scenario: "two-tools", words: "> second"},
		{scenario: "turns:3", words: "> turn 3"},
		{scenario: "index-zero", words: "> c.txt"},
		{scenario: "keep-alive", words: "from the first word to the last."},
		{scenario: "same-ids", words: "> round 4 call 2"},
		{scenario: "bad-arguments", words: "The tool said"},
		{scenario: "unknown-tool", words: "search_files"},
		{scenario: "retry-after:1", words: "Thank you for waiting."},
		{scenario: "overflow", words: "The context window is full with this."},
		{scenario: "cut-call", words: "cut by the limit on tokens", fails: true},
		{scenario: "error", words: "always fails", fails: true},
	} {
		t.Run(test.scenario, func(t *testing.T) {
			server, err := offline.Start(offline.Config{Scenario: test.scenario})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			dir := t.TempDir()
			file := write(t, filepath.Join(dir, "fixtures.json"), `{"fixtures": []}`)
			url := peer(t, dir, "llmock", func(port string) []string {
				return []string{"-p", port, "-f", file, "--proxy-only", "--provider-openai", server.URL()}
			})
			for plugin, provider := range protocols(url) {
				got := chat(t, t.TempDir(), provider, "go with "+plugin)
				if test.fails {
					got.fails(t, test.words)
				} else {
					got.answers(t, test.words)
				}
			}
			if len(server.Requests()) < 2 {
				t.Error("the requests went elsewhere")
			}
		})
	}
}
