package llm

import "testing"

// TestContextExceeded has one row per wording that a server is known to use, and rows
// that look alike and mean something else.
func TestContextExceeded(t *testing.T) {
	t.Parallel()
	said := func(status int, message string) Error {
		return Error{Stage: StageRejected, Status: status, Message: message}
	}
	object := func(raw string) Error {
		return Error{Stage: StageProvider, Object: object(t, raw)}
	}
	for name, err := range map[string]Error{
		"openai code":          {Stage: StageRejected, Status: 400, Code: "context_length_exceeded"},
		"openai":               said(400, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens.","code":"context_length_exceeded"}}`),
		"openai responses":     {Stage: StageProvider, Message: "Your input exceeds the context window of this model. Please adjust your input and try again."},
		"anthropic":            said(400, "prompt is too long: 210000 tokens > 200000 maximum"),
		"anthropic with max":   said(400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
		"anthropic, by reason": {Stage: StageFinish, Code: "model_context_window_exceeded"},
		"bedrock":              said(400, "Input is too long for requested model."),
		"vllm":                 said(400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
		"vllm, new":            said(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
		"sglang":               said(400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
		"llama.cpp":            said(400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`),
		"llama.cpp, streamed":  object(`{"code":400,"type":"exceed_context_size_error"}`),
		"ollama":               said(400, "prompt too long; exceeded max context length by 812 tokens"),
		"ollama, older":        said(500, "the input length exceeds the context length"),
		"lm studio":            said(400, "Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"),
		"gemini":               said(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
		"xai":                  said(400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
		"mistral":              said(400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"),
		"groq":                 said(400, "Please reduce the length of the messages or completion."),
		"qwen":                 said(400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"),
		"moonshot":             said(400, "Invalid request: Your request exceeded model token limit: 262144"),
		"minimax":              said(400, "invalid params, context window exceeds limit (2013)"),
		"z.ai":                 object(`{"code":"1261","message":"Prompt exceeds max length"}`),
		"copilot":              {Stage: StageRejected, Status: 400, Code: "model_max_prompt_tokens_exceeded"},
		"cohere":               said(400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"),
		"tgi":                  said(422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`"),
		"tgi, only inputs":     said(422, "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000"),
		"litellm as a fault":   said(500, "litellm.ContextWindowExceededError: too long"),
		"openrouter in stream": {Stage: StageProvider, Status: 400, Message: "This endpoint's maximum context length is 131072 tokens."},
		"too large in bytes":   said(413, "<html>Request Entity Too Large</html>"),
	} {
		if !err.ContextExceeded() {
			t.Errorf("%s is not recognised: %v", name, &err)
		}
	}
	for name, err := range map[string]Error{
		"another 400":             said(400, "unknown field temperatur"),
		"an option":               said(400, "context length must be a positive integer"),
		"a service by that name":  said(503, "context window service is down"),
		"a quota":                 said(429, "you have too many tokens in the prompt for this minute: maximum context length is not the problem"),
		"a quota as 413":          said(413, `{"error":{"message":"Request too large on tokens per minute (TPM)","code":"rate_limit_exceeded"}}`),
		"cut by the answer limit": {Stage: StageFinish, Code: "length"},
		"the connection":          {Stage: StageRead, Message: "maximum context length"},
		"nothing said":            said(400, ""),
	} {
		if err.ContextExceeded() {
			t.Errorf("%s is taken for a conversation that is too long", name)
		}
	}
}
