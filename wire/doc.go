// Package wire owns what a worker and a Hub say to each other: the envelopes, the
// payloads and signals of the Hub, the events of the worker, the one-shot messages of
// confirmations and remote tools, and every limit on them.
//
// It refuses anything that is not strict JSON (one value, valid UTF-8, no duplicate
// names); inside the data of a frame with an answer. What the contract calls fatal is an error here ([*FrameError],
// [*ReplyError]); what the contract answers with an event is that event's data
// ([InputRejected], [QueryFailed], [SignalError]), so a caller cannot confuse the two.
//
// Invariants: decoders never keep more of the input than they return, encoders are
// deterministic, and the data types here encode to less than [MaxEvent] together with
// their envelope. Display copies of conversation records are made in package
// wire/display. Nothing here does I/O or holds state; all functions may be called
// concurrently.
package wire
