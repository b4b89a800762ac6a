// Package deepseek is the table of what sets DeepSeek's API apart from the Chat
// Completions protocol (worker-data.md §6.7). It owns nothing but these differences;
// package chat does the work.
package deepseek
