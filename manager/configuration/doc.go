// Package configuration says what the source configuration of an allocation comes to:
// the effective configuration with overrides and storage root applied, and the source of
// a clean fork (manager.md).
//
// It owns the three endpoints that can be overridden, the placeholders that a fork begins
// with, and where below its root an allocation may keep its storage. It refuses sources
// that are not exactly one YAML mapping, storage outside the root, in the manager's or the
// worker's own places or inside one another, and URLs that a worker would not take.
//
// Invariants: a source's text is never changed; an override never enables a section that
// the source lacks, but for client; an error never quotes a value.
//
// It does no I/O. A worker's checks of the result are package load's.
package configuration
