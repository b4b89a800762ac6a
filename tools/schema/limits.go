package schema

import (
	"regexp"
	"strconv"
	"unicode/utf8"

	"simplex/state"
)

// limits are the clauses of one property that a value can be held against.
type limits struct {
	kind              string
	min, max          *int64 // minimum, maximum
	shortest, longest *int64 // minLength, maxLength, in characters
	fewest            *int64 // minItems
	pattern           *regexp.Regexp
	enum              []state.Value // nil: none
}

// readLimits reads and checks every limiting clause but enum.
func readLimits(c clauses) (*limits, error) {
	kind, _ := c.get("type")
	l := &limits{}
	l.kind, _ = kind.Text()
	for _, n := range []struct {
		name   string
		into   **int64
		signed bool
	}{
		{"minimum", &l.min, true},
		{"maximum", &l.max, true},
		{"minLength", &l.shortest, false},
		{"maxLength", &l.longest, false},
		{"minItems", &l.fewest, false},
	} {
		v, ok := c.get(n.name)
		if !ok {
			continue
		}
		i, ok := integer(v)
		if !ok {
			return nil, faulty(c.path+"/"+n.name, "must be an integer")
		}
		if i < 0 && !n.signed {
			return nil, faulty(c.path+"/"+n.name, "must not be negative")
		}
		*n.into = &i
	}
	if above(l.min, l.max) {
		return nil, faulty(c.path+"/minimum", "is above maximum")
	}
	if above(l.shortest, l.longest) {
		return nil, faulty(c.path+"/minLength", "is above maxLength")
	}
	return l, l.readPattern(c)
}

func (l *limits) readPattern(c clauses) error {
	v, ok := c.get("pattern")
	if !ok {
		return nil
	}
	s, ok := v.Text()
	if !ok {
		return faulty(c.path+"/pattern", "must be a string")
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return faulty(c.path+"/pattern", "does not compile: %v", err)
	}
	l.pattern = re
	return nil
}

// checkValues checks the limits of a property and holds its enum and default
// against them.
func checkValues(c clauses) error {
	l, err := readLimits(c)
	if err != nil {
		return err
	}
	if err := l.readEnum(c, l); err != nil {
		return err
	}
	v, ok := c.get("default")
	if !ok {
		return nil
	}
	if reason := l.refuses(v); reason != "" {
		return faulty(c.path+"/default", "%s", reason)
	}
	return nil
}

// readEnum reads the enum of c; every member must satisfy outer.
func (l *limits) readEnum(c clauses, outer *limits) error {
	v, ok := c.get("enum")
	if !ok {
		return nil
	}
	list := elements(v)
	if len(list) == 0 {
		return faulty(c.path+"/enum", "must be a list with at least one value")
	}
	for i, item := range list {
		if reason := outer.refuses(item); reason != "" {
			return faulty(c.path+"/enum/"+strconv.Itoa(i), "%s", reason)
		}
	}
	l.enum = list
	return nil
}

// refuses says why the value does not satisfy the limits; "" when it does.
func (l *limits) refuses(v state.Value) string {
	if !l.inEnum(v) {
		return "is not in enum"
	}
	switch l.kind {
	case "string":
		return l.refusesText(v)
	case "boolean":
		if v.Kind() != 't' && v.Kind() != 'f' {
			return "must be true or false"
		}
	case "integer":
		i, ok := integer(v)
		if !ok {
			return "must be an integer"
		}
		if above(l.min, &i) || above(&i, l.max) {
			return "lies outside minimum and maximum"
		}
	case "array":
		return l.refusesList(v)
	}
	return ""
}

func (l *limits) refusesText(v state.Value) string {
	s, ok := v.Text()
	if !ok {
		return "must be a string"
	}
	n := int64(utf8.RuneCountInString(s))
	if above(l.shortest, &n) || above(&n, l.longest) {
		return "has a length outside minLength and maxLength"
	}
	if l.pattern != nil && !l.pattern.MatchString(s) {
		return "does not match pattern"
	}
	return ""
}

func (l *limits) refusesList(v state.Value) string {
	if v.Kind() != '[' {
		return "must be a list of strings"
	}
	list := elements(v)
	for _, item := range list {
		if _, ok := item.Text(); !ok {
			return "must be a list of strings"
		}
	}
	if n := int64(len(list)); above(l.fewest, &n) {
		return "has fewer elements than minItems"
	}
	return ""
}

func (l *limits) inEnum(v state.Value) bool {
	if l.enum == nil {
		return true
	}
	for _, item := range l.enum {
		if item == v {
			return true
		}
	}
	return false
}

// above tells whether both are there and low lies above high.
func above(low, high *int64) bool { return low != nil && high != nil && *low > *high }

// integer reads a JSON integer; 5.0 and 5e0 are none.
func integer(v state.Value) (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	i, err := strconv.ParseInt(v.String(), 10, 64)
	return i, err == nil
}
