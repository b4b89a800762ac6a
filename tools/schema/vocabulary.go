package schema

import (
	"fmt"
	"slices"

	"simplex/state"
)

// deepest is how many properties and items may lie inside one another.
const deepest = 32

// Error is a fault in an argument schema.
type Error struct {
	Path   string // JSON pointer from the root of the schema; "" is the whole
	Reason string
}

func (e *Error) Error() string { return "at " + e.Path + ": " + e.Reason }

func faulty(path, format string, args ...any) error {
	return &Error{path, fmt.Sprintf(format, args...)}
}

// Check holds an argument schema against the closed vocabulary of §1.4. What
// is not in it is refused: a clause that nothing implements must not reach the model.
// Errors are *Error.
func Check(root state.Object) error {
	c, err := readClauses("", root, "type", "properties", "required", "additionalProperties", "anyOf")
	if err != nil {
		return err
	}
	if err := c.wantType("object"); err != nil {
		return err
	}
	if v, ok := c.get("additionalProperties"); ok && v.Kind() != 'f' {
		return faulty("/additionalProperties", "only false may stand here")
	}
	props, required, err := checkMembers(c, 0)
	if err != nil {
		return err
	}
	anyOf, ok := c.get("anyOf")
	if !ok {
		return nil
	}
	branches := elements(anyOf)
	if len(branches) == 0 {
		return faulty("/anyOf", "must be a list with at least one branch")
	}
	for i, b := range branches {
		br := &branch{path: fmt.Sprintf("/anyOf/%d", i), props: props, rootRequired: required}
		if err := br.check(b); err != nil {
			return err
		}
	}
	return nil
}

// clauses are the members of one schema object and the place where it stands.
type clauses struct {
	path    string
	members []state.Member
}

func readClauses(path string, o state.Object, allowed ...string) (clauses, error) {
	c := clauses{path, o.Members()}
	return c, c.only(allowed...)
}

func (c clauses) only(allowed ...string) error {
	for _, m := range c.members {
		if !slices.Contains(allowed, m.Name) {
			return faulty(c.path+"/"+m.Name, "keyword is not known here; known are %q", allowed)
		}
	}
	return nil
}

func (c clauses) get(name string) (state.Value, bool) {
	for _, m := range c.members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return state.Value{}, false
}

func (c clauses) wantType(want string) error {
	v, _ := c.get("type")
	if s, _ := v.Text(); s != want {
		return faulty(c.path+"/type", "must be %q", want)
	}
	return nil
}

// checkMembers checks properties and required of an object schema.
func checkMembers(c clauses, depth int) (props map[string]clauses, required []string, err error) {
	props = map[string]clauses{}
	if v, ok := c.get("properties"); ok {
		o, err := v.Object()
		if err != nil {
			return nil, nil, faulty(c.path+"/properties", "must be a mapping")
		}
		for _, m := range o.Members() {
			p, err := checkProperty(c.path+"/properties/"+m.Name, m.Value, depth+1)
			if err != nil {
				return nil, nil, err
			}
			props[m.Name] = p
		}
	}
	if v, ok := c.get("required"); ok {
		if required, err = nameList(c.path+"/required", v); err != nil {
			return nil, nil, err
		}
		for _, name := range required {
			if _, ok := props[name]; !ok {
				return nil, nil, faulty(c.path+"/required", "names %q, which is not declared", name)
			}
		}
	}
	return props, required, nil
}

// nameList reads a list of different, nonempty strings.
func nameList(path string, v state.Value) ([]string, error) {
	if v.Kind() != '[' {
		return nil, faulty(path, "must be a list of names")
	}
	var names []string
	for _, item := range elements(v) {
		s, ok := item.Text()
		if !ok || s == "" {
			return nil, faulty(path, "must be a list of names")
		}
		if slices.Contains(names, s) {
			return nil, faulty(path, "names %q twice", s)
		}
		names = append(names, s)
	}
	return names, nil
}

// checkProperty checks one property schema by its type.
func checkProperty(path string, v state.Value, depth int) (clauses, error) {
	o, err := v.Object()
	if err != nil {
		return clauses{}, faulty(path, "must be a mapping")
	}
	c := clauses{path, o.Members()}
	if depth > deepest {
		return c, faulty(path, "lies deeper than %d levels", deepest)
	}
	if d, _ := c.get("description"); !nonemptyText(d) {
		return c, faulty(path+"/description", "is required and must not be empty")
	}
	kind, _ := c.get("type")
	switch s, _ := kind.Text(); s {
	case "string":
		return c, checkScalar(c, "minLength", "maxLength", "pattern")
	case "boolean":
		return c, checkScalar(c)
	case "integer":
		return c, checkScalar(c, "minimum", "maximum")
	case "array":
		return c, checkArray(c, depth)
	case "object":
		return c, checkObject(c, depth)
	default:
		return c, faulty(path+"/type", "must be one of string, boolean, integer, array, object")
	}
}

func nonemptyText(v state.Value) bool {
	s, ok := v.Text()
	return ok && s != ""
}

func checkScalar(c clauses, more ...string) error {
	if err := c.only(append([]string{"type", "description", "default", "enum"}, more...)...); err != nil {
		return err
	}
	return checkValues(c)
}

func checkArray(c clauses, depth int) error {
	if err := c.only("type", "description", "default", "enum", "minItems", "items"); err != nil {
		return err
	}
	v, _ := c.get("items")
	items, err := v.Object()
	if err != nil {
		return faulty(c.path+"/items", "is required and must be a mapping")
	}
	path := c.path + "/items"
	if kind, _ := items.Get("type"); kind == state.StringValue("string") {
		if _, err := readClauses(path, items, "type"); err != nil {
			return err
		}
		return checkValues(c)
	}
	if err := c.noValues("an array of objects"); err != nil {
		return err
	}
	if _, err := readLimits(c); err != nil {
		return err
	}
	if depth+1 > deepest {
		return faulty(path, "lies deeper than %d levels", deepest)
	}
	return checkObject(clauses{path, items.Members()}, depth+1)
}

func checkObject(c clauses, depth int) error {
	if err := c.noValues("an object"); err != nil {
		return err
	}
	if err := c.only("type", "description", "properties", "required", "additionalProperties"); err != nil {
		return err
	}
	if err := c.wantType("object"); err != nil {
		return err
	}
	if v, ok := c.get("description"); ok && !nonemptyText(v) {
		return faulty(c.path+"/description", "must not be empty")
	}
	if v, ok := c.get("additionalProperties"); ok && v.Kind() != 't' && v.Kind() != 'f' {
		return faulty(c.path+"/additionalProperties", "must be true or false")
	}
	_, _, err := checkMembers(c, depth)
	return err
}

func (c clauses) noValues(what string) error {
	for _, name := range []string{"default", "enum"} {
		if _, ok := c.get(name); ok {
			return faulty(c.path+"/"+name, "is not allowed on %s", what)
		}
	}
	return nil
}

// elements lists the items of a JSON array; none of anything else.
func elements(v state.Value) []state.Value {
	list, _ := v.Items()
	return list
}
