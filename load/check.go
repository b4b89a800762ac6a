package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// checker compares a tree with the table of keys. It looks at single values; rules
// between values are the builder's.
type checker struct {
	tree     *Tree
	opt      Options
	errs     Errors
	warnings []Warning
}

func (c *checker) fail(line int, path, format string, args ...any) {
	c.errs = append(c.errs, &Error{File: c.tree.Name, Line: line, Path: path, Message: fmt.Sprintf(format, args...)})
}

// all is everything that is wrong, and with it the keys that are unknown: where one is
// misspelled, what it stands for is missing.
func (c *checker) all() Errors {
	out := c.errs.sorted()
	for _, w := range c.warnings {
		out = append(out, w.asError())
	}
	return out
}

// selectors is the rule that a selector names an entry of providers.
func (c *checker) selectors() {
	providers := c.tree.Root.Get("providers")
	if providers != nil && providers.Kind != KindMapping {
		return // told already
	}
	for _, selector := range selectors {
		n := c.tree.Root.Get(selector)
		if n == nil || n.Kind != KindString || n.Text == "" || providers.Get(n.Text) != nil {
			continue
		}
		c.fail(n.Line, "/"+selector, "%s", noProvider(n.Text, providers))
	}
}

// noProvider says what there is instead of the provider of that name.
func noProvider(name string, providers *Node) string {
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
func (c *checker) mapping(n *Node, pattern, path string) {
	known := make([]string, 0, 12)
	for i := range keys {
		k := &keys[i]
		name, ok := k.in(pattern)
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
			c.warnings = append(c.warnings, Warning{File: c.tree.Name, Line: m.Line, Path: join(path, m.Name), Nearest: nearest(m.Name, pattern, path)})
		}
	}
}

func (c *checker) absent(parent *Node, k *Key, path string) {
	if k.Required {
		line := 0
		if parent != nil && parent != c.tree.Root {
			line = parent.Line
		}
		c.fail(line, path, "is required")
		return
	}
	if k.Type != TypeMapping || k.Optional || k.Path == "/client" && c.opt.ClientOptional {
		return
	}
	c.mapping(nil, k.Path, path)
}

// value checks one value that is present.
func (c *checker) value(v *Node, k *Key, path string) {
	switch k.Type {
	case TypeRefused:
		c.fail(v.Line, path, "is no longer supported; put the text into a prompt file and name it in system_prompt_file")
	case TypeMapping:
		if c.kind(v, KindMapping, path) {
			c.mapping(v, k.Path, path)
		}
	case TypeTable:
		if c.kind(v, KindMapping, path) {
			c.table(v, k, path)
		}
	case TypeList:
		if c.kind(v, KindSequence, path) {
			item := key(k.Path + "/*")
			for i, n := range v.Items {
				c.value(n, item, path+"/"+strconv.Itoa(i))
			}
		}
	case TypeObject:
		c.kind(v, KindMapping, path)
	case TypeBool:
		c.kind(v, KindBool, path)
	case TypeInt:
		c.integer(v, k, path)
	default:
		c.text(v, k, path)
	}
}

// table checks the values of a mapping of names; of the providers only the selected.
func (c *checker) table(v *Node, k *Key, path string) {
	item := key(k.Path + "/*")
	for _, m := range v.Members {
		if k.Path == "/providers" && !c.selected(m.Name) {
			continue
		}
		c.value(m.Value, item, join(path, m.Name))
	}
}

// selectors are the keys that name an entry of providers.
var selectors = [...]string{"driver_model", "modality_assist_model"}

func (c *checker) selected(provider string) bool {
	for _, selector := range selectors {
		if n := c.tree.Root.Get(selector); n != nil && n.Kind == KindString && n.Text == provider {
			return true
		}
	}
	return false
}

func (c *checker) kind(v *Node, want Kind, path string) bool {
	if v.Kind != want {
		c.fail(v.Line, path, "must be %s, not %s", want, v.Kind)
	}
	return v.Kind == want
}

func (c *checker) integer(v *Node, k *Key, path string) {
	if !c.kind(v, KindInt, path) {
		return
	}
	i, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil || i < k.Min || i > maxHostInt {
		c.fail(v.Line, path, "must be in the range %d..%d", k.Min, maxHostInt)
	}
}

func (c *checker) text(v *Node, k *Key, path string) {
	if v.Kind != KindString {
		c.fail(v.Line, path, "%s", wantText(v))
		return
	}
	if reason := textRule(v.Text, k); reason != "" {
		c.fail(v.Line, path, "%s", reason)
	}
}

// wantText is decision 9.13: unquoted words and numbers never become text by guessing.
func wantText(v *Node) string {
	switch v.Kind {
	case KindBool, KindInt, KindFloat:
		return fmt.Sprintf("must be text, but YAML reads this unquoted value as %s; put it in quotes", v.Kind)
	case KindNull:
		return `must be text, not null; write "" for an empty text and put the word null in quotes`
	default:
		return fmt.Sprintf("must be text, not %s", v.Kind)
	}
}

func wantOne(words []string) string {
	if len(words) == 1 {
		return "must be " + strconv.Quote(words[0])
	}
	return "must be one of " + strings.Join(words, ", ")
}

// textRule gives the reason why a text does not suit its key, or "".
func textRule(s string, k *Key) string {
	switch {
	case k.NonEmpty && s == "":
		return "must not be empty"
	case k.Enum != nil && !slices.Contains(k.Enum, s):
		return wantOne(k.Enum)
	}
	switch k.Type {
	case TypePath:
		if strings.IndexByte(s, 0) >= 0 {
			return "must not contain NUL"
		}
	case TypeName:
		if !plainName(s) {
			return "must consist of letters, digits, _ and -"
		}
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
