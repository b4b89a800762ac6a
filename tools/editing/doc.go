// Package editing is the toolset that changes files for the model (contract tools.md
// §3.3, §6.2, §8.19): str_replace_edit, which replaces one occurrence of a text.
//
// It owns the search (byte-exact, overlapping occurrences counted, then once more with
// CRLF), the checks that the file stays the one that was read, its replacement by a
// temporary file and a rename, and the preview.
//
// It refuses what is no plain file: final symbolic links, special files, files with
// further hard links or with set-uid, set-gid or sticky bits, and files over 16 MiB
// before or after the edit. It makes no directories.
//
// Invariants:
//   - No byte outside the match changes, except that a new text for CRLF lines is
//     written with CRLF; a byte order mark stays where it is.
//   - At every instant the path holds the old content whole or the new content whole.
//   - Owner, group and the mode bits 0777 are kept, or nothing is published. Access
//     control lists and extended attributes are not kept.
//   - Whatever changes the file between the first look and the rename is a conflict,
//     and nothing is published.
package editing

//go:generate go test -run TestDeclarationsUpToDate -update .
