// Package capture keeps what a process prints, in bounded memory (tools.md §4.6,
// §8.5–8.7).
//
// It owns: the names of the streams; a [Buffer], which is the output of one process: a
// prefix of each stream under one raw-byte budget, and the newest bytes of each stream
// that outran it; the delta cursors; and the [Output] that a read yields.
//
// It refuses nothing and waits for nothing: bytes are taken or counted as lost at once. It
// knows neither descriptors nor processes; who adds and when a stream has ended is its
// user's to say.
//
// Invariants:
//
//   - A buffer keeps at most budget + tails + a constant (one block for each stream).
//   - Delta reads never repeat a byte, and joined with what they say is omitted they are
//     the stream.
//   - Loss is told per stream, and is told for good.
//   - No cut of its own falls inside a UTF-8 sequence; bytes are otherwise raw.
package capture
