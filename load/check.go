package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"simplex/load/document"
	"simplex/load/schema"
)

// checker compares a tree with the table of keys. It looks at single values; rules
// between values are the builder's.
type checker struct {
	schema.Checker
	opt      Options
	warnings []Warning
}

// all is everything that is wrong, and with it the keys that are unknown: where one is
// misspelled, what it stands for is missing.
func (c *checker) all() document.Errors {
	out := c.Errs.Sorted()
	for _, w := range c.warnings {
		out = append(out, w.asError())
	}
	return out
}

// selectors is the rule that a selector names an entry of providers.
func (c *checker) selectors() {
	providers := c.Tree.Root.Get("providers")
	if providers != nil && providers.Kind != document.KindMapping {
		return // told already
	}
	for _, selector := range selectors {
		n := c.Tree.Root.Get(selector)
		if n == nil || n.Kind != document.KindString || n.Text == "" || providers.Get(n.Text) != nil {
			continue
		}
		c.Fail(n.Line, "/"+selector, "%s", noProvider(n.Text, providers))
	}
}

// noProvider says what there is instead of the provider of that name.
func noProvider(name string, providers *document.Node) string {
	if providers == nil {
		return "providers is missing"
	}
	if len(providers.Members) == 0 {
		return strconv.Quote(name) + " is no entry of providers, which is empty"
	}
	var names []string
	for _, m := range providers.Members {
		names = append(names, m.Name)
	}
	return strconv.Quote(name) + " is no entry of providers; there are: " + strings.Join(names, ", ")
}

// mapping checks the members of n, the mapping that the table calls pattern. A nil n
// is an omitted mapping, which counts as empty.
func (c *checker) mapping(n *document.Node, pattern, path string) {
	known := make([]string, 0, 12)
	for i := range keys {
		k := &keys[i]
		name, ok := k.In(pattern)
		if !ok {
			continue
		}
		known = append(known, name)
		if v := n.Get(name); v != nil {
			c.value(v, k, path+"/"+name)
			continue
		}
		c.absent(n, k, path+"/"+name)
	}
	if n == nil {
		return
	}
	for _, m := range n.Members {
		if !slices.Contains(known, m.Name) {
			c.warnings = append(c.warnings, Warning{File: c.Tree.Name, Line: m.Line, Path: document.Join(path, m.Name), Nearest: schema.Nearest(keys[:], m.Name, pattern, path)})
		}
	}
}

func (c *checker) absent(parent *document.Node, k *schema.Key, path string) {
	if k.Required {
		line := 0
		if parent != nil && parent != c.Tree.Root {
			line = parent.Line
		}
		c.Fail(line, path, "is required")
		return
	}
	if k.Type != schema.Mapping || k.Optional || k.Path == "/client" && c.opt.ClientOptional {
		return
	}
	c.mapping(nil, k.Path, path)
}

// value checks one value that is present.
func (c *checker) value(v *document.Node, k *schema.Key, path string) {
	switch k.Type {
	case schema.Refused:
		c.Fail(v.Line, path, "is no longer supported; put the text into a prompt file and name it in system_prompt_file")
	case schema.Mapping:
		if c.Kind(v, document.KindMapping, path) {
			c.mapping(v, k.Path, path)
		}
	case schema.Table:
		if c.Kind(v, document.KindMapping, path) {
			c.table(v, k, path)
		}
	case schema.List:
		if c.Kind(v, document.KindSequence, path) {
			item := key(k.Path + "/*")
			for i, n := range v.Items {
				c.value(n, item, path+"/"+strconv.Itoa(i))
			}
		}
	case schema.Object:
		c.Kind(v, document.KindMapping, path)
	case schema.Bool:
		c.Kind(v, document.KindBool, path)
	case schema.Int:
		c.Integer(v, k, path)
	default:
		c.text(v, k, path)
	}
}

// table checks the values of a mapping of names; of the providers only the selected.
func (c *checker) table(v *document.Node, k *schema.Key, path string) {
	item := key(k.Path + "/*")
	for _, m := range v.Members {
		if k.Path == "/providers" && !c.selected(m.Name) {
			continue
		}
		c.value(m.Value, item, document.Join(path, m.Name))
	}
}

// selectors are the keys that name an entry of providers.
var selectors = [...]string{"driver_model", "modality_assist_model"}

func (c *checker) selected(provider string) bool {
	for _, selector := range selectors {
		if n := c.Tree.Root.Get(selector); n != nil && n.Kind == document.KindString && n.Text == provider {
			return true
		}
	}
	return false
}

// text checks a text, by the rules that only the configuration has, too.
func (c *checker) text(v *document.Node, k *schema.Key, path string) {
	if !c.Text(v, k, path) {
		return
	}
	if reason := textRule(v.Text, k.Type); reason != "" {
		c.Fail(v.Line, path, "%s", reason)
	}
}

// textRule gives the reason why a text does not suit a type of the configuration's own,
// or "".
func textRule(s string, t schema.Type) string {
	switch t {
	case TypeChild:
		return childRule(s)
	case TypePrompt:
		return promptPathRule(s)
	case TypeEndpoint:
		if _, err := ParseEndpoint(s); err != nil {
			return err.Error()
		}
	}
	return ""
}

// Warning tells of a key that the configuration has and this program does not know.
type Warning struct {
	File    string
	Line    int    // 1-based; 0 where the document has no lines
	Path    string // slash form of the unknown key
	Nearest string // slash form of the known key that was probably meant
}

// asError is the warning beside errors that it may explain.
func (w Warning) asError() *document.Error {
	return &document.Error{File: w.File, Line: w.Line, Path: w.Path, Message: schema.UnknownKey(w.Nearest)}
}

// String is the warning as one line for a person.
func (w Warning) String() string {
	at := w.File
	if w.Line > 0 {
		at += ":" + strconv.Itoa(w.Line)
	}
	if w.Nearest == "" {
		return fmt.Sprintf("%s: unknown key %s is ignored", at, w.Path)
	}
	return fmt.Sprintf("%s: unknown key %s is ignored; the nearest known key is %s", at, w.Path, w.Nearest)
}
