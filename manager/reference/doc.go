// Package reference is the managed reference: the file `config/config.yaml` inside an
// allocation's root, which stands for the configuration that the manager keeps
// (manager.md).
//
// It owns the file's bytes and the reading of them below a root. It refuses a reference
// that was edited in any way, and one of another version.
//
// Invariants: a reference holds no secret; it is YAML with one key whatever characters
// the directory's name has. Whether it stands in its own place is the manager's to check.
package reference
