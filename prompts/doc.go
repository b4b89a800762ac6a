// Package prompts holds the shipped prompt files (worker-data.md §5.1), so that a
// bare binary works without an installation beside it: the default and a general
// system prompt, and the instructions of the compaction operations.
//
// It owns the texts and nothing else: it parses nothing and knows no format; package
// load does, and its tests show that every file here is sound.
package prompts
