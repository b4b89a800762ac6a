package load

import (
	"strconv"
	"strings"

	"simplex/state"
)

// The section names that the host keeps for itself (§5.1, decision 9.1).
const (
	SectionEnvironment = "environment.runtime"
	SectionSignature   = "signature.runtime"
	SectionMemory      = "memory.runtime"
	skillPrefix        = "skill."
)

func hostSection(name string) bool {
	return strings.HasPrefix(name, skillPrefix) || name == SectionEnvironment || name == SectionSignature || name == SectionMemory
}

// ParsePrompt reads a prompt file (§5.1). Unknown fields are tolerated, nothing is
// expanded. Errors are *Error or Errors.
func ParsePrompt(name string, raw []byte) (state.SystemPrompt, error) {
	tree, err := ParseYAML(name, raw)
	if err != nil {
		return state.SystemPrompt{}, err
	}
	p := &promptReader{checker: checker{tree: tree}, prompt: state.SystemPrompt{HeadingLevel: 2}}
	p.read()
	if len(p.errs) > 0 {
		return state.SystemPrompt{}, p.errs.sorted()
	}
	return p.prompt, nil
}

type promptReader struct {
	checker
	prompt state.SystemPrompt
}

var stabilities = [...]string{string(state.Immutable), string(state.Growing), string(state.Volatile)}

func (p *promptReader) read() {
	root := p.tree.Root
	if n := root.Get("heading_level"); n != nil && p.kind(n, KindInt, "/heading_level") {
		level, err := strconv.Atoi(n.Text)
		if err != nil || level < 1 || level > 6 {
			p.fail(n.Line, "/heading_level", "must be in the range 1..6")
		}
		p.prompt.HeadingLevel = level
	}
	list := root.Get("sections")
	if list == nil {
		p.fail(0, "/sections", "is required")
		return
	}
	if !p.kind(list, KindSequence, "/sections") {
		return
	}
	p.prompt.Sections = make([]state.Section, 0, len(list.Items))
	for i, n := range list.Items {
		path := "/sections/" + strconv.Itoa(i)
		if p.kind(n, KindMapping, path) {
			p.section(n, path)
		}
	}
}

func (p *promptReader) section(n *Node, path string) {
	failed := len(p.errs)
	s := state.Section{
		Name:      p.field(n, path, Key{Path: "name", Required: true, NonEmpty: true}),
		Title:     p.field(n, path, Key{Path: "title"}),
		Stability: state.SectionStability(p.field(n, path, Key{Path: "stability", Default: stabilities[0], Enum: stabilities[:]})),
		Text:      p.field(n, path, Key{Path: "text", Required: true}),
	}
	if len(p.errs) > failed {
		return
	}
	if hostSection(s.Name) {
		p.fail(n.Get("name").Line, path+"/name", "the section name %s is reserved", s.Name)
		return
	}
	if err := p.prompt.Add(s); err != nil {
		p.fail(n.Line, path, "%v", err)
	}
}

func (p *promptReader) field(n *Node, path string, k Key) string {
	v := n.Get(k.Path)
	path += "/" + k.Path
	if v == nil {
		if k.Required {
			p.fail(n.Line, path, "is required")
		}
		return k.Default
	}
	p.text(v, &k, path)
	return v.Text
}
