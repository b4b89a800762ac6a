package llmtest

import "simplex/llm/strict"

// CheckRequest is strict.Chat.
func CheckRequest(body []byte) error { return strict.Chat(body) }
