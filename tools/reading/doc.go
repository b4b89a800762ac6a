// Package reading is the toolset that shows files to the model (contract tools.md
// §3.2): read_text, which selects lines or bytes and renders them in four formats.
//
// It owns the arguments and their defaults, the formats, the output limit and the
// wording of hints. It refuses files that are not regular, that are larger than the
// host's limit, and a start behind the end.
//
// Invariants:
//   - Every call ends in bounded time, whatever stands at the path: the file is opened
//     without blocking and looked at before it is read.
//   - The text block is valid UTF-8 without NUL, never larger than max_output_bytes,
//     and never ends inside a character or an escape.
//   - What is cut or replaced is said so, with the call that shows the rest.
package reading

//go:generate go test -run TestDeclarationsUpToDate -update .
