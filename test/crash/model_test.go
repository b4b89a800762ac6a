//go:build crash

package crash

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// node is a file or directory of a file system that keeps no promise but fsync's: what
// is in memory, and what is on disk for certain.
type node struct {
	dir          bool
	data, synced string
	now, certain map[string]*node
	pending      []change // of now, since the directory's last fsync
}

// linkMark begins the data of a node that is a symbolic link; its target follows.
const linkMark = "\x00link "

// change is what one call does to one directory. A rename within one is atomic; one
// between two is a change of each, and either may be lost.
type change []entry

type entry struct {
	name string
	to   *node // nil: the name goes away
}

func newDir() *node { return &node{dir: true, now: map[string]*node{}, certain: map[string]*node{}} }

// loaded takes a directory as it lies there, all of it certain.
func loaded(tb testing.TB, path string) *node {
	tb.Helper()
	n := newDir()
	entries, err := os.ReadDir(path)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		var child *node
		if e.IsDir() {
			child = loaded(tb, filepath.Join(path, e.Name()))
		} else if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(filepath.Join(path, e.Name()))
			if err != nil {
				tb.Fatal(err)
			}
			child = &node{data: linkMark + target, synced: linkMark + target}
		} else {
			raw, err := os.ReadFile(filepath.Join(path, e.Name()))
			if err != nil {
				tb.Fatal(err)
			}
			child = &node{data: string(raw), synced: string(raw)}
		}
		n.now[e.Name()], n.certain[e.Name()] = child, child
	}
	return n
}

// copied is the same in nodes of its own; everything must be certain.
func (n *node) copied() *node {
	out := &node{dir: n.dir, data: n.data, synced: n.synced}
	if n.dir {
		out.now, out.certain = map[string]*node{}, map[string]*node{}
		for name, child := range n.now {
			c := child.copied()
			out.now[name], out.certain[name] = c, c
		}
	}
	return out
}

func (n *node) find(path string) *node {
	if path == "." {
		return n
	}
	for name := range strings.SplitSeq(path, "/") {
		if n == nil || !n.dir {
			return nil
		}
		n = n.now[name]
	}
	return n
}

func (n *node) change(c change) {
	for _, e := range c {
		if delete(n.now, e.name); e.to != nil {
			n.now[e.name] = e.to
		}
	}
	n.pending = append(n.pending, c)
}

// apply carries out an event on the tree.
func (n *node) apply(tb testing.TB, e event) {
	tb.Helper()
	dir, name := n.find(filepath.Dir(e.path)), filepath.Base(e.path)
	at := n.find(e.path)
	if dir == nil || at == nil && e.kind != "mkdir" && e.kind != "create" {
		tb.Fatalf("the replay lost its way at %v", e)
	}
	switch e.kind {
	case "mkdir":
		dir.change(change{{name, newDir()}})
	case "create":
		if at == nil {
			dir.change(change{{name, &node{}}})
		}
	case "write":
		at.data += e.data
	case "unlink":
		dir.change(change{{name, nil}})
	case "rename":
		target, toName := n.find(filepath.Dir(e.to)), filepath.Base(e.to)
		if target == dir {
			dir.change(change{{name, nil}, {toName, at}})
			return
		}
		dir.change(change{{name, nil}})
		target.change(change{{toName, at}})
	case "fsync":
		at.sync()
	}
}

func (n *node) sync() {
	n.synced, n.pending = n.data, nil
	if n.dir {
		n.certain = maps.Clone(n.now)
	}
}

// loss decides what a power cut leaves of what is not certain.
type loss struct {
	keep    func() bool
	content func(n *node) string
}

func losses(r *rand.Rand, mixes int) []loss {
	out := []loss{
		{func() bool { return false }, func(n *node) string { return n.synced }},
		{func() bool { return true }, func(n *node) string { return n.data }},
		{func() bool { return true }, func(n *node) string { return n.synced }},
	}
	torn := loss{func() bool { return r.IntN(2) == 0 }, func(n *node) string {
		switch r.IntN(3) {
		case 0:
			return n.synced
		case 1:
			return n.data
		}
		return n.data[:r.IntN(len(n.data)+1)]
	}}
	for range mixes {
		out = append(out, torn)
	}
	return out
}

// left is the tree after a power cut: path to content, directories end in a slash.
func (n *node) left(l loss) map[string]string {
	out := map[string]string{}
	n.leave("", l, out)
	return out
}

func (n *node) leave(prefix string, l loss, out map[string]string) {
	entries := maps.Clone(n.certain)
	for _, c := range n.pending {
		if !l.keep() {
			continue
		}
		for _, e := range c {
			if delete(entries, e.name); e.to != nil {
				entries[e.name] = e.to
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		child := entries[name]
		if child.dir {
			out[prefix+name+"/"] = ""
			child.leave(prefix+name+"/", l, out)
			continue
		}
		out[prefix+name] = child.synced
		if child.data != child.synced {
			out[prefix+name] = l.content(child)
		}
	}
}

// lay puts a tree on disk in place of what is below root.
func lay(tb testing.TB, root string, tree map[string]string) {
	tb.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
			tb.Fatal(err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		at := filepath.Join(root, path)
		if strings.HasSuffix(path, "/") {
			err = os.Mkdir(at, fs.FileMode(0o700))
		} else if target, ok := strings.CutPrefix(tree[path], linkMark); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(tree[path]), 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}
