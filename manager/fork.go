package manager

import (
	"fmt"
	"path/filepath"

	"simplex/internal/safepath"
	"simplex/load"
	"simplex/manager/protocol"
)

// placeholderHost never resolves; a worker refuses endpoints there.
const placeholderHost = "unconfigured.invalid"

// cleanFork makes a child of a parent's captured startup. A child that has a record
// never looks at its parent again; for a new one the parent is read first, so that a
// fork that is refused leaves nothing behind.
func (s *session) cleanFork() (*Result, error) {
	known, err := s.known()
	if err != nil {
		return nil, err
	}
	source := ""
	if !known {
		if source, err = s.parentSource(); err != nil {
			s.tidyChild()
			return nil, err
		}
	}
	return s.mutate(!known, source)
}

// tidyChild removes what a killed fork left of a child that is refused now. Where it
// cannot, the refusal is the answer all the same.
func (s *session) tidyChild() {
	child := &session{m: s.m, req: s.req}
	defer child.close()
	_ = child.acquire(false)
}

// known tells whether the child has a record; records never go away.
func (s *session) known() (bool, error) {
	child := &session{m: s.m, req: s.req}
	defer child.close()
	err := child.look()
	if err != nil && causeCode(err) == protocol.NotFound {
		return false, nil
	}
	return child.rec != nil, err
}

// parentSource reads the parent's capture under a shared lease, which is kept until the
// child is made.
func (s *session) parentSource() (string, error) {
	from := s.req.Source
	p := &session{m: s.m, req: &protocol.Request{Operation: protocol.CleanFork, AllocationID: from.AllocationID, Directory: from.Directory}}
	s.others = append(s.others, p.close)
	if err := p.share(); err != nil {
		return "", &sourceError{err}
	}
	captured := p.rec.Startup
	switch {
	case captured == nil || captured.LifecycleID != from.LifecycleID:
		return "", refuse(protocol.LifecycleConflict, "source: the parent has no capture of this lifecycle")
	case captured.Revision != from.Revision:
		return "", refuse(protocol.RevisionMismatch, "source: the parent's capture has another revision")
	}
	return childSource(captured.Effective, from.Directory, s.req.Directory)
}

// share takes the shared lease of a ready allocation, without any other lock.
func (s *session) share() (err error) {
	if err := s.look(); err != nil {
		return err
	}
	if err := (situation{rec: s.rec}).mustBeReady(); err != nil {
		return err
	}
	if s.lease, err = s.mgr.LockFile(s.id()+lockSuffix, safepath.Shared, false); err != nil {
		if missing(err) {
			return fmt.Errorf("%w: its lock file is missing", errRecord)
		}
		return err
	}
	if err := s.load(); err != nil { // once more, now that it cannot change
		return err
	}
	return situation{rec: s.rec}.mustBeReady()
}

// childSource derives a child's source from a captured configuration: JSON text, which
// is YAML, too.
func childSource(captured []byte, parent, child string) (string, error) {
	tree, err := load.ParseJSON("captured configuration", captured)
	if err != nil {
		return "", err
	}
	root := rebase(tree.Root, filepath.Join(parent, configDir))
	for _, e := range endpoints {
		if root.At(e.path...) != nil {
			root = root.WithAt(e.path, load.TextNode("ws://"+placeholderHost+"/"+e.placeholder))
		}
	}
	root = root.WithAt([]string{"persistence", "restore"}, load.TextNode("if_present"))
	root = root.WithAt([]string{"persistence", "directory"}, load.TextNode(child))
	text := string(escapeYAML((&load.Tree{Root: root}).JSON().Bytes()))
	if _, err := effective(text, protocol.Refresh{}, child); err != nil {
		return "", err
	}
	return text, nil
}

// rebase makes config-relative paths absolute against the parent's config directory.
// Prompt paths are relative to the installation and stay.
func rebase(root *load.Node, base string) *load.Node {
	absolute := func(n *load.Node) *load.Node {
		if n == nil || n.Kind != load.KindString || n.Text == "" || filepath.IsAbs(n.Text) {
			return n
		}
		return load.TextNode(filepath.Join(base, n.Text))
	}
	set := func(path []string, value *load.Node) {
		if value != nil {
			root = root.WithAt(path, value)
		}
	}
	workspace := []string{"worker", "environment", "workspace"}
	set(workspace, absolute(root.At(workspace...)))
	for _, section := range [][]string{{"providers"}, {"extensions", "tools"}, {"extensions", "loop_hooks"}} {
		section = append([]string{"plugins"}, section...)
		dirs := append(section[:len(section):len(section)], "directories")
		set(dirs, each(root.At(dirs...), absolute))
		enable := append(section[:len(section):len(section)], "enable")
		set(enable, each(root.At(enable...), func(item *load.Node) *load.Node {
			for _, name := range []string{"schema_directory", "config_file"} {
				if item.Get(name) != nil {
					item = item.With(name, absolute(item.Get(name)))
				}
			}
			return item
		}))
	}
	return root
}

// each applies a change to every item of a list; what is no list stays.
func each(n *load.Node, change func(*load.Node) *load.Node) *load.Node {
	if n == nil || n.Kind != load.KindSequence {
		return n
	}
	out := *n
	out.Items = make([]*load.Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = change(item)
	}
	return &out
}
