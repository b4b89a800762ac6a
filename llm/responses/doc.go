// Package responses speaks the Responses protocol, always streaming and, unless the
// configuration says otherwise, without anything stored at the provider (worker-data.md
// §6.4, §6.6, §6.7): it maps a conversation to a list of items, and the event stream to
// one model response.
//
// It owns the mapping, the assembly of the answer, and Dialect. It refuses content that
// the protocol has no place for before anything is sent.
//
// Invariants: items that the model made go back as they came, reasoning with its
// encrypted content included, as long as the record still says the same; a call goes
// back under the id that the conversation knows it by, with its one result behind it,
// arguments that are a JSON object, and no item twice; reasoning never stands without
// what it led to. The body of a growing conversation keeps its prefix byte for byte. An
// answer is returned whole or not at all.
package responses
