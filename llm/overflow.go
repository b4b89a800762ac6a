package llm

import (
	"net/http"
	"strings"
)

// overflowSigns lists, per sign, words that all have to be in what the provider said,
// in lower case. There is no common code, so they are those that servers are known to
// use; each is narrow enough not to fit another refusal.
func overflowSigns() [][]string {
	return [][]string{
		// Codes and types, of OpenAI and most that follow it, llama.cpp, LiteLLM, Copilot, Anthropic.
		{"context_length_exceeded"},
		{"exceed_context_size"},
		{"contextwindowexceeded"},
		{"context_window_exceeded"},
		{"max_prompt_tokens_exceeded"},
		// OpenAI, DeepSeek, vLLM, OpenRouter, Mistral ("too large for model with … maximum context length").
		{"maximum context length"},
		// OpenAI's Responses, Cerebras, MiniMax.
		{"exceeds the context window"},
		{"context window exceeds"},
		{"exceeds", "context window"},
		// Anthropic, Bedrock, Z.ai.
		{"prompt is too long"},
		{"input is too long"},
		{"prompt exceeds max length"},
		{"exceed context limit"},
		// llama.cpp, Ollama, LM Studio.
		{"exceeds the available context size"},
		{"exceeds the context length"},
		{"exceeds the context size"},
		{"exceeded max context length"},
		{"exceeds", "max context length"},
		{"greater than the context length"},
		{"context the overflows"},
		// vLLM and SGLang.
		{"longer than the maximum model length"},
		{"longer than the model's context length"},
		{"exceeds the model's maximum context"},
		{"max_model_len"},
		// Gemini, xAI, Copilot, Moonshot, Cohere.
		{"input token count", "exceeds the maximum"},
		{"maximum prompt length is"},
		{"prompt token count", "exceeds the limit"},
		{"exceeded model token limit"},
		{"too many tokens", "prompt"},
		{"too many input tokens"},
		// DashScope, text-generation-inference, Groq.
		{"range of input length should be"},
		{"inputs", "tokens", "max_new_tokens", "must be <="},
		{"inputs` must have less than", "tokens"},
		{"reduce the length of the messages"},
	}
}

// ContextExceeded tells whether the provider refused the conversation as too long, by
// its code or its words, wherever it said so: instead of an answer, within a stream, or
// as the reason for an end. Trying the same again is of no use; a shorter conversation
// may pass.
func (e *Error) ContextExceeded() bool {
	switch e.Stage {
	case StageRejected, StageProvider, StageFinish:
	default:
		return false
	}
	if e.Status == http.StatusTooManyRequests {
		return false // a quota counted in tokens uses the same words
	}
	said := strings.ToLower(e.Code + "\n" + e.Message + "\n" + e.Object.String())
	if e.Status == http.StatusRequestEntityTooLarge && !strings.Contains(said, "rate_limit") && !strings.Contains(said, "per minute") {
		return true
	}
	for _, sign := range overflowSigns() {
		if containsAll(said, sign) {
			return true
		}
	}
	return false
}

func containsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
