package prompt

import (
	"strconv"
	"strings"

	"simplex/load/document"
	"simplex/load/schema"
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

// Parse reads a prompt file (§5.1). Unknown fields are tolerated, nothing is
// expanded. Errors are *document.Error or document.Errors.
func Parse(name string, raw []byte) (state.SystemPrompt, error) {
	tree, err := document.ParseYAML(name, raw)
	if err != nil {
		return state.SystemPrompt{}, err
	}
	p := &promptReader{Checker: schema.Checker{Tree: tree}, prompt: state.SystemPrompt{HeadingLevel: 2}}
	p.read()
	if err := p.Err(); err != nil {
		return state.SystemPrompt{}, err
	}
	return p.prompt, nil
}

type promptReader struct {
	schema.Checker
	prompt state.SystemPrompt
}

var stabilities = [...]string{string(state.Immutable), string(state.Growing), string(state.Volatile)}

func (p *promptReader) read() {
	root := p.Tree.Root
	if n := root.Get("heading_level"); n != nil && p.Kind(n, document.KindInt, "/heading_level") {
		level, err := strconv.Atoi(n.Text)
		if err != nil || level < 1 || level > 6 {
			p.Fail(n.Line, "/heading_level", "must be in the range 1..6")
		}
		p.prompt.HeadingLevel = level
	}
	list := root.Get("sections")
	if list == nil {
		p.Fail(0, "/sections", "is required")
		return
	}
	if !p.Kind(list, document.KindSequence, "/sections") {
		return
	}
	p.prompt.Sections = make([]state.Section, 0, len(list.Items))
	for i, n := range list.Items {
		path := "/sections/" + strconv.Itoa(i)
		if p.Kind(n, document.KindMapping, path) {
			p.section(n, path)
		}
	}
}

func (p *promptReader) section(n *document.Node, path string) {
	failed := len(p.Errs)
	s := state.Section{
		Name:      p.field(n, path, schema.Key{Path: "name", Required: true, NonEmpty: true}),
		Title:     p.field(n, path, schema.Key{Path: "title"}),
		Stability: state.SectionStability(p.field(n, path, schema.Key{Path: "stability", Default: stabilities[0], Enum: stabilities[:]})),
		Text:      p.field(n, path, schema.Key{Path: "text", Required: true}),
	}
	if len(p.Errs) > failed {
		return
	}
	if hostSection(s.Name) {
		p.Fail(n.Get("name").Line, path+"/name", "the section name %s is reserved", s.Name)
		return
	}
	if err := p.prompt.Add(s); err != nil {
		p.Fail(n.Line, path, "%v", err)
	}
}

func (p *promptReader) field(n *document.Node, path string, k schema.Key) string {
	v := n.Get(k.Path)
	path += "/" + k.Path
	if v == nil {
		if k.Required {
			p.Fail(n.Line, path, "is required")
		}
		return k.Default
	}
	p.Text(v, &k, path)
	return v.Text
}
