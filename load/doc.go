// Package load turns a YAML or JSON document into a validated configuration
// (worker-data.md §2).
//
// It owns the table of known keys (keys.go), from which defaults, type checks, ranges,
// unknown-key warnings and the tests of the reference page are taken; the rules between
// values; and the expansion of environment variables in credentials.
//
// It refuses to construct anything: no provider, tool, store or socket is made here,
// nothing is logged (warnings are returned), and no name is looked up on a network.
// Which provider plugins and extensions exist is the caller's knowledge. Trees and their
// errors are document's, single values schema's, prompt files prompt's; descriptors of
// enabled plugins are read by plugin, from the Config that this package gives.
//
// Invariants: a Config that was returned is complete and obeys every rule of §2; an
// error names file, line and slash path and never holds a value of the document, so
// no credential can leak through it; an expanded value is never parsed again.
//
// All functions are safe for concurrent use; a Config is read-only once returned.
package load
