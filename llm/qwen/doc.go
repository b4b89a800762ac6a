// Package qwen is the table of what sets Qwen's compatible API apart from the Chat
// Completions protocol (worker-data.md §6.7): its two families of models, thinking by a
// switch with an effort or a budget, and what it refuses. It owns nothing but these
// differences; package chat does the work.
package qwen
