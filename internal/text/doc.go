// Package text cuts and cleans text without breaking UTF-8.
//
// It owns: cutting at a byte budget between characters, holding back the beginning of a
// character whose rest has not arrived, the replacement of bytes that must not be shown
// (tools.md §8.5), and the nearest known word for a suggestion.
//
// It refuses to guess encodings: bytes that are no UTF-8 are single damaged bytes.
//
// Invariants: what goes in valid comes out valid; a cut never exceeds its budget; the
// two parts of a split, joined, are the input. All functions are pure.
package text
