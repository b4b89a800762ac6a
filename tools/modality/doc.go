// Package modality is the toolset that has another model look at what the driver cannot
// see (contract tools.md §3.5): modality_assist, for images.
//
// It owns the arguments, the reading and encoding of the files, the one exchange with
// the model behind it, and the check of its answer. It refuses files that are not
// regular, that are empty or of another suffix, and more than 16 MiB together.
//
// Invariants:
//   - Every file is read before the model is asked, and the model is asked once.
//   - The exchange starts from a fresh conversation without tools: nothing of the
//     session gets into it, and nothing of it but the text of the answer gets out.
//   - A cancelled run does not cut the exchange short.
package modality

//go:generate go test -run TestDeclarationsUpToDate -update .
