package configuration

import (
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"simplex/load/document"
	"simplex/manager/record"
)

// The names inside an allocation's root that are taken: no storage may be at or below Dir
// and SessionLock.
const (
	Dir         = "config"       // the directory of File
	File        = "config.yaml"  // the managed reference
	SessionLock = "session.lock" // the worker's own lock
)

// storage checks the keys that decide where a worker writes below its root, and takes them
// into d.
func storage(d *record.Document, p *document.Node) error {
	if p != nil && p.Kind != document.KindMapping {
		return errors.New(": must be a mapping")
	}
	if f := p.Get("format"); f != nil {
		if f.Kind != document.KindString || f.Text != "json" && f.Text != "sqlite" {
			return errors.New(".format: must be json or sqlite")
		}
		d.Backend = f.Text
	}
	state, err := storageKey(p, "state")
	if err != nil {
		return err
	}
	memory, err := storageKey(p, "memory")
	if err != nil {
		return err
	}
	if within(state, memory) || within(memory, state) {
		return errors.New(": state and memory must be neither the same nor inside one another")
	}
	d.State, d.Memory = state, memory
	return nil
}

func storageKey(p *document.Node, name string) (string, error) {
	n := p.Get(name)
	if n == nil {
		return name, nil // the default is the key's own name
	}
	bad := func(why string) (string, error) { return "", errors.New("." + name + ": " + why) }
	switch s := n.Text; {
	case n.Kind != document.KindString:
		return bad("must be text")
	case s == "":
		return bad("must not be empty")
	case strings.IndexByte(s, 0) >= 0:
		return bad("must not hold a NUL")
	case path.IsAbs(s):
		return bad("must be relative")
	case slices.Contains(strings.Split(s, "/"), ".."):
		return bad("must not hold a .. component")
	}
	clean := path.Clean(n.Text)
	if slices.ContainsFunc(strings.Split(clean, "/"), func(part string) bool { return len(part) > unix.NAME_MAX }) {
		return bad("must have components of at most 255 bytes")
	}
	if clean == "." || within(clean, Dir) || within(clean, SessionLock) {
		return bad("must be a place of its own below the root")
	}
	return clean, nil
}

// within tells whether a is b or below it; both are normalized.
func within(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }
