// Package document turns YAML and JSON texts into trees of values with their places
// (worker-data.md §2.1), edits them, and says where in a text something is wrong.
//
// It owns the YAML to JSON conversion and is the only package that knows a YAML
// library; the reading of a document from a file; the slash paths by which a value is
// named; and the errors about one.
//
// It refuses to know what any document is about: no key, no default and no rule of a
// configuration, prompt or descriptor stands here.
//
// Invariants: a tree's root is a mapping without duplicate keys, every text in it is
// valid UTF-8, and it always gives JSON; editing never changes the original; an error
// of a text names file and line and never holds a value of the document.
//
// All functions are safe for concurrent use; so are nodes that nobody changes.
package document
