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

func (c *checker) selected(provider string) bool {
	for _, selector := range []string{"driver_model", "modality_assist_model"} {
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

// textRule gives the reason why a text does not suit its key, or "".
func textRule(s string, k *Key) string {
	switch {
	case k.NonEmpty && s == "":
		return "must not be empty"
	case k.Enum != nil && !slices.Contains(k.Enum, s):
		return "must be one of " + strings.Join(k.Enum, ", ")
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
