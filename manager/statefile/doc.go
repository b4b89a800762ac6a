// Package statefile checks the files in which a worker keeps its state and copies them
// into the answer of read_state, as streams: no size needs memory.
//
// It owns two contents, one JSON object and UTF-8 text, each with its check and its copy
// onto one line; and the comparison of the two readings of a file, the one that checks
// and the one that copies. A byte order mark at the beginning is allowed and not copied.
//
// It refuses JSON that is not exactly one object of RFC 8259, a member twice in an
// object, half a surrogate pair, bytes that are not UTF-8, nesting beyond what the worker
// itself takes, and a file that is not the same when it is read again.
//
// Invariants: every token keeps its spelling; an error of the content wraps ErrContent
// and tells where, never what; buffers do not grow with the file, but for the names of the
// objects that are open.
//
// It opens nothing and starts no goroutine.
package statefile
