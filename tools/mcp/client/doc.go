// Package client is the client's side of the Model Context Protocol over a pair of
// streams: JSON-RPC 2.0, one message in each line (tools.md §1.3, dynamic toolsets).
//
// It owns the coding of messages, the handshake, the list of tools, calls and what
// becomes of them when the stream ends, and the answers to requests of the server.
//
// It refuses: lines that are not the protocol and lines over the limit (both end the
// session), revisions of the protocol that it does not know, and every request of the
// server but ping. It knows nothing of processes, and not what a result is good for.
//
// Invariants:
//   - A call returns by the end of its context, whatever the server takes or gives.
//   - A call has one answer or one error; an answer that comes later is dropped.
//   - Reading never waits for writing: answers to the server queue in bounded memory,
//     and those that do not fit are dropped.
//   - When the session ends, for whichever reason, every call under way fails at once,
//     both streams are closed and both goroutines end.
//   - Nothing is done at initialisation of the package: it is linked into processes
//     that never use it.
package client
