// Package prompt reads prompt files and puts system prompts together (worker-data.md §5).
//
// It owns the form of a prompt file, the section names that the host keeps for itself,
// and the rebuild of the system prompt at start.
//
// It refuses to look for files: which file is which prompt, and what stands in for one
// that is not there, is the configuration's business. Nothing in a prompt is expanded.
//
// Invariants: a prompt that was read has no host section and keeps the order of
// stabilities; a rebuilt one has every host section in its place, shares no section slice
// with its source, and does not change when it is rebuilt once more.
//
// All functions are safe for concurrent use.
package prompt
