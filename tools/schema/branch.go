package schema

import (
	"slices"

	"simplex/state"
)

// branch is one alternative of the root's anyOf.
type branch struct {
	path         string
	props        map[string]clauses // as declared at the root
	rootRequired []string
}

func (b *branch) check(v state.Value) error {
	o, err := v.Object()
	if err != nil {
		return faulty(b.path, "must be a mapping")
	}
	c, err := readClauses(b.path, o, "required", "properties", "not")
	if err != nil {
		return err
	}
	list, ok := c.get("required")
	if !ok {
		return faulty(b.path+"/required", "is required in a branch")
	}
	required, err := b.declared(b.path+"/required", list)
	if err != nil {
		return err
	}
	if v, ok := c.get("properties"); ok {
		if err := b.checkNarrowing(v); err != nil {
			return err
		}
	}
	excluded, err := b.excluded(c)
	if err != nil {
		return err
	}
	for _, name := range excluded {
		if slices.Contains(required, name) || slices.Contains(b.rootRequired, name) {
			return faulty(b.path+"/not", "excludes %q, which is required", name)
		}
	}
	adds := slices.ContainsFunc(required, func(s string) bool { return !slices.Contains(b.rootRequired, s) })
	if !adds && len(excluded) == 0 {
		return faulty(b.path, "must require a further property or exclude one")
	}
	return nil
}

// declared reads a list of names that the root declares.
func (b *branch) declared(path string, v state.Value) ([]string, error) {
	names, err := nameList(path, v)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, ok := b.props[name]; !ok {
			return nil, faulty(path, "names %q, which is not declared", name)
		}
	}
	return names, nil
}

// excluded reads not: {required: [one]} or {anyOf: [{required: [one]}, …]}.
func (b *branch) excluded(c clauses) ([]string, error) {
	v, ok := c.get("not")
	if !ok {
		return nil, nil
	}
	path := b.path + "/not"
	o, err := v.Object()
	if err != nil {
		return nil, faulty(path, "must be a mapping")
	}
	list, ok := o.Get("anyOf")
	if !ok {
		name, err := b.excludedOne(path, v)
		return []string{name}, err
	}
	if _, err := readClauses(path, o, "anyOf"); err != nil {
		return nil, err
	}
	items := elements(list)
	if len(items) == 0 {
		return nil, faulty(path+"/anyOf", "must be a list with at least one entry")
	}
	var names []string
	for _, item := range items {
		name, err := b.excludedOne(path+"/anyOf", item)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (b *branch) excludedOne(path string, v state.Value) (string, error) {
	o, err := v.Object()
	if err != nil {
		return "", faulty(path, "must be a mapping")
	}
	c, err := readClauses(path, o, "required")
	if err != nil {
		return "", err
	}
	list, _ := c.get("required")
	names, err := b.declared(path+"/required", list)
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", faulty(path+"/required", "must name exactly one property")
	}
	return names[0], nil
}

// checkNarrowing checks that the branch's properties only narrow what is declared.
func (b *branch) checkNarrowing(v state.Value) error {
	path := b.path + "/properties"
	o, err := v.Object()
	if err != nil {
		return faulty(path, "must be a mapping")
	}
	for _, m := range o.Members() {
		declared, ok := b.props[m.Name]
		if !ok {
			return faulty(path+"/"+m.Name, "narrows a property that is not declared")
		}
		if err := narrows(path+"/"+m.Name, declared, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// narrowing lists the clauses a branch may put on a property of each type.
func narrowing(kind string) []string {
	switch kind {
	case "string":
		return []string{"enum", "minLength", "maxLength", "pattern"}
	case "integer":
		return []string{"enum", "minimum", "maximum"}
	case "array":
		return []string{"enum", "minItems"}
	case "boolean":
		return []string{"enum"}
	default:
		return nil
	}
}

func narrows(path string, declared clauses, v state.Value) error {
	o, err := v.Object()
	if err != nil {
		return faulty(path, "must be a mapping")
	}
	outer, err := readLimits(declared)
	if err != nil {
		return err
	}
	if err := outer.readEnum(declared, outer); err != nil {
		return err
	}
	c, err := readClauses(path, o, narrowing(outer.kind)...)
	if err != nil {
		return err
	}
	if len(c.members) == 0 {
		return faulty(path, "must narrow by at least one clause")
	}
	if _, ok := c.get("enum"); ok && declared.holdsObjects() {
		return faulty(path+"/enum", "is not allowed on an array of objects")
	}
	inner, err := readLimits(c)
	if err != nil {
		return err
	}
	if above(outer.min, inner.min) || above(inner.max, outer.max) ||
		above(outer.shortest, inner.shortest) || above(inner.longest, outer.longest) ||
		above(outer.fewest, inner.fewest) {
		return faulty(path, "widens what is declared")
	}
	inner.kind = outer.kind
	if err := inner.readEnum(c, outer); err != nil {
		return err
	}
	for i, item := range inner.enum {
		if reason := inner.refuses(item); reason != "" {
			return faulty(path+"/enum", "value %d %s", i, reason)
		}
	}
	return nil
}

// holdsObjects tells whether an array property has object items.
func (c clauses) holdsObjects() bool {
	v, _ := c.get("items")
	items, err := v.Object()
	if err != nil {
		return false
	}
	kind, _ := items.Get("type")
	return kind == state.StringValue("object")
}
