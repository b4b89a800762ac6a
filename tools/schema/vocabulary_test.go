package schema_test

import (
	"errors"
	"fmt"
	"testing"

	"simplex/state"
	"simplex/tools/schema"
)

// TestVocabulary has for every clause one schema on each side of the line. prop is
// the schema of a property p, root what else stands at the root.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	str := func(more string) string { return `{"type":"string","description":"d"` + more + `}` }
	num := func(more string) string { return `{"type":"integer","description":"d"` + more + `}` }
	boo := func(more string) string { return `{"type":"boolean","description":"d"` + more + `}` }
	arr := func(more string) string {
		return `{"type":"array","description":"d","items":{"type":"string"}` + more + `}`
	}
	obj := func(more string) string { return `{"type":"object","description":"d"` + more + `}` }
	items := func(items string) string { return `{"type":"array","description":"d","items":` + items + `}` }
	branch := func(b string) string { return `"anyOf":[` + b + `]` }
	const good = ""
	p := "/properties/p"
	for _, c := range []struct{ prop, root, want string }{
		{str(""), ``, good},
		{str(""), `"additionalProperties":false`, good},
		{str(""), `"additionalProperties":true`, "/additionalProperties"},
		{str(""), `"description":"d"`, "/description"},
		{str(""), `"oneOf":[]`, "/oneOf"},
		{str(""), `"required":["p"]`, good},
		{str(""), `"required":["x"]`, "/required"},
		{str(""), `"required":["p","p"]`, "/required"},
		{str(""), `"required":"p"`, "/required"},
		{`7`, ``, p},
		{`{"type":"number","description":"d"}`, ``, p + "/type"},
		{`{"description":"d"}`, ``, p + "/type"},
		{`{"type":"string"}`, ``, p + "/description"},
		{`{"type":"string","description":""}`, ``, p + "/description"},
		{`{"type":"string","description":5}`, ``, p + "/description"},
		{str(`,"title":"x"`), ``, p + "/title"},
		{str(`,"format":"uri"`), ``, p + "/format"},

		{str(`,"default":""`), ``, good},
		{str(`,"default":5`), ``, p + "/default"},
		{str(`,"default":"a","enum":["a"]`), ``, good},
		{str(`,"default":"b","enum":["a"]`), ``, p + "/default"},
		{str(`,"enum":[]`), ``, p + "/enum"},
		{str(`,"enum":"a"`), ``, p + "/enum"},
		{str(`,"enum":["a",1]`), ``, p + "/enum/1"},
		{str(`,"minLength":2,"default":"é!"`), ``, good},
		{str(`,"minLength":3,"default":"é!"`), ``, p + "/default"},
		{str(`,"maxLength":2,"default":"éé"`), ``, good},
		{str(`,"maxLength":1,"default":"éé"`), ``, p + "/default"},
		{str(`,"minLength":2,"maxLength":2`), ``, good},
		{str(`,"minLength":3,"maxLength":2`), ``, p + "/minLength"},
		{str(`,"minLength":-1`), ``, p + "/minLength"},
		{str(`,"minLength":1.0`), ``, p + "/minLength"},
		{str(`,"maxLength":1,"enum":["a","bc"]`), ``, p + "/enum/1"},
		{str(`,"pattern":"^a+$","default":"aa"`), ``, good},
		{str(`,"pattern":"^a+$","default":"ab"`), ``, p + "/default"},
		{str(`,"pattern":"("`), ``, p + "/pattern"},
		{str(`,"pattern":"(?=a)"`), ``, p + "/pattern"},
		{str(`,"pattern":1`), ``, p + "/pattern"},
		{str(`,"minimum":1`), ``, p + "/minimum"},

		{num(`,"default":0`), ``, good},
		{num(`,"default":0.0`), ``, p + "/default"},
		{num(`,"default":"0"`), ``, p + "/default"},
		{num(`,"minimum":-1,"maximum":1,"default":-1`), ``, good},
		{num(`,"minimum":0,"maximum":1,"default":-1`), ``, p + "/default"},
		{num(`,"minimum":0,"maximum":1,"default":2`), ``, p + "/default"},
		{num(`,"minimum":1,"maximum":1`), ``, good},
		{num(`,"minimum":2,"maximum":1`), ``, p + "/minimum"},
		{num(`,"minimum":"0"`), ``, p + "/minimum"},
		{num(`,"maximum":5,"enum":[1,5]`), ``, good},
		{num(`,"maximum":5,"enum":[1,6]`), ``, p + "/enum/1"},
		{num(`,"minLength":1`), ``, p + "/minLength"},

		{boo(`,"default":true,"enum":[true]`), ``, good},
		{boo(`,"default":false,"enum":[true]`), ``, p + "/default"},
		{boo(`,"default":1`), ``, p + "/default"},
		{boo(`,"minimum":0`), ``, p + "/minimum"},

		{arr(`,"default":[]`), ``, good},
		{arr(`,"default":["a"],"minItems":1`), ``, good},
		{arr(`,"default":[],"minItems":1`), ``, p + "/default"},
		{arr(`,"default":[1]`), ``, p + "/default"},
		{arr(`,"default":"a"`), ``, p + "/default"},
		{arr(`,"minItems":-1`), ``, p + "/minItems"},
		{arr(`,"enum":[["a"],[]]`), ``, good},
		{arr(`,"enum":["a"]`), ``, p + "/enum/0"},
		{arr(`,"maxItems":3`), ``, p + "/maxItems"},
		{`{"type":"array","description":"d"}`, ``, p + "/items"},
		{items(`{"type":"string","minLength":1}`), ``, p + "/items/minLength"},
		{items(`{"type":"integer"}`), ``, p + "/items/type"},
		{items(`{"type":"object","properties":{"q":` + str("") + `},"required":["q"],"additionalProperties":false}`), ``, good},
		{items(`{"type":"object","properties":{"q":{"type":"string"}}}`), ``, p + "/items/properties/q/description"},
		{items(`{"type":"object","anyOf":[]}`), ``, p + "/items/anyOf"},
		{`{"type":"array","description":"d","default":[],"items":{"type":"object"}}`, ``, p + "/default"},
		{`{"type":"array","description":"d","enum":[[]],"items":{"type":"object"}}`, ``, p + "/enum"},
		{`{"type":"array","description":"d","minItems":-1,"items":{"type":"object"}}`, ``, p + "/minItems"},

		{obj(``), ``, good},
		{obj(`,"additionalProperties":true`), ``, good},
		{obj(`,"additionalProperties":{}`), ``, p + "/additionalProperties"},
		{obj(`,"default":{}`), ``, p + "/default"},
		{obj(`,"enum":[{}]`), ``, p + "/enum"},
		{obj(`,"properties":{"q":` + str(`,"foo":1`) + `}`), ``, p + "/properties/q/foo"},
		{obj(`,"required":["q"]`), ``, p + "/required"},

		{str(""), branch(`{"required":["p"]}`), good},
		{str(""), `"anyOf":[]`, "/anyOf"},
		{str(""), branch(`7`), "/anyOf/0"},
		{str(""), branch(`{"properties":{}}`), "/anyOf/0/required"},
		{str(""), branch(`{"required":["x"]}`), "/anyOf/0/required"},
		{str(""), branch(`{"required":["p"],"type":"object"}`), "/anyOf/0/type"},
		{str(""), branch(`{"required":["p"]}`) + `,"required":["p"]`, "/anyOf/0"},
		{str(""), branch(`{"required":["p"],"not":{"required":["q"]}}`) + `,"required":["p"]`, good},
		{str(""), branch(`{"required":["p"],"not":{"anyOf":[{"required":["q"]}]}}`), good},
		{str(""), branch(`{"required":["p"],"not":{"anyOf":[]}}`), "/anyOf/0/not/anyOf"},
		{str(""), branch(`{"required":["p"],"not":{"required":["p"]}}`), "/anyOf/0/not"},
		{str(""), branch(`{"required":["q"],"not":{"required":["p"]}}`) + `,"required":["p"]`, "/anyOf/0/not"},
		{str(""), branch(`{"required":["p"],"not":{"required":["p","q"]}}`), "/anyOf/0/not/required"},
		{str(""), branch(`{"required":["p"],"not":{"properties":{}}}`), "/anyOf/0/not/properties"},
		{str(""), branch(`{"required":["p"],"properties":{"p":{"minLength":1}}}`), good},
		{str(""), branch(`{"required":["p"],"properties":{"p":{}}}`), "/anyOf/0/properties/p"},
		{str(""), branch(`{"required":["p"],"properties":{"x":{"minLength":1}}}`), "/anyOf/0/properties/x"},
		{str(""), branch(`{"required":["p"],"properties":{"p":{"minimum":1}}}`), "/anyOf/0/properties/p/minimum"},
		{str(""), branch(`{"required":["p"],"properties":{"p":{"default":""}}}`), "/anyOf/0/properties/p/default"},
		{str(`,"minLength":2`), branch(`{"required":["p"],"properties":{"p":{"minLength":1}}}`), "/anyOf/0/properties/p"},
		{str(`,"enum":["a","b"]`), branch(`{"required":["p"],"properties":{"p":{"enum":["b"]}}}`), good},
		{str(`,"enum":["a","b"]`), branch(`{"required":["p"],"properties":{"p":{"enum":["c"]}}}`), "/anyOf/0/properties/p/enum/0"},
		{boo(""), branch(`{"required":["p"],"properties":{"p":{"enum":[true]}}}`), good},
		{num(`,"maximum":3`), branch(`{"required":["p"],"properties":{"p":{"maximum":4}}}`), "/anyOf/0/properties/p"},
		{num(`,"maximum":3`), branch(`{"required":["p"],"properties":{"p":{"minimum":3}}}`), good},
		{arr(""), branch(`{"required":["p"],"properties":{"p":{"minItems":1}}}`), good},
		{obj(""), branch(`{"required":["p"],"properties":{"p":{"enum":[{}]}}}`), "/anyOf/0/properties/p/enum"},
		{items(`{"type":"object"}`), branch(`{"required":["p"],"properties":{"p":{"enum":[[]]}}}`), "/anyOf/0/properties/p/enum"},
	} {
		root := `{"type":"object","properties":{"p":` + c.prop + `,"q":` + str("") + `}`
		if c.root != "" {
			root += "," + c.root
		}
		root += "}"
		err := check(t, root)
		got := ""
		if err != nil {
			de, ok := errors.AsType[*schema.Error](err)
			if !ok {
				t.Fatalf("%s: %T", root, err)
			}
			got = de.Path
		}
		if got != c.want {
			t.Errorf("%s:\ngot %q (%v), want %q", root, got, err, c.want)
		}
	}
}

func TestRootMustBeAnObject(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `{"type":"array"}`, `{"type":["object"]}`, `{"type":"object","properties":[]}`} {
		if err := check(t, raw); err == nil {
			t.Errorf("%s was taken", raw)
		}
	}
}

func TestNesting(t *testing.T) {
	t.Parallel()
	nested := func(levels int) string {
		s := `{"type":"string","description":"d"}`
		for range levels - 1 {
			s = `{"type":"object","description":"d","properties":{"p":` + s + `}}`
		}
		return fmt.Sprintf(`{"type":"object","properties":{"p":%s}}`, s)
	}
	if err := check(t, nested(32)); err != nil {
		t.Errorf("32 levels: %v", err)
	}
	if err := check(t, nested(33)); err == nil {
		t.Error("33 levels were taken")
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"p":{"type":"array","description":"d","items":{"type":"string"},"default":[]}},"anyOf":[{"required":["p"],"not":{"required":["q"]}}]}`)
	f.Add(`{"type":"object","properties":{"p":{"type":"string","description":"d","enum":["a"]}},"anyOf":[{"required":["p"],"properties":{"p":{"enum":["a"]}}}]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		o, err := state.ParseObject([]byte(raw))
		if err != nil {
			return
		}
		err = schema.Check(o)
		if _, ok := errors.AsType[*schema.Error](err); err != nil && !ok {
			t.Fatalf("untyped error %v", err)
		}
	})
}

func check(t *testing.T, raw string) error {
	t.Helper()
	o, err := state.ParseObject([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return schema.Check(o)
}
