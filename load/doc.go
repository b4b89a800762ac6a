// Package load turns YAML into a validated configuration (worker-data.md §2), prompt
// files into system prompts (§5) and component files into JSON values.
//
// It owns the YAML to JSON conversion of §2.1 and is the only package that knows a
// YAML library; the table of known keys (keys.go), from which defaults, type checks,
// ranges, unknown-key warnings and the tests of the reference page are taken; the
// expansion of environment variables in credentials; and the rebuild of the system
// prompt at start.
//
// It refuses to construct anything: no provider, tool, store or socket is made here,
// nothing is logged (warnings are returned), and no name is looked up on a network.
// Which provider plugins and extensions exist is the caller's knowledge.
//
// Invariants: a Config that was returned is complete and obeys every rule of §2; an
// error names file, line and slash path and never holds a value of the document, so
// no credential can leak through it; an expanded value is never parsed again.
//
// All functions are safe for concurrent use; a Config is read-only once returned.
package load
