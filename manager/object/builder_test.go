package object_test

import (
	"encoding/json/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/manager/object"
)

// What is put together is what encoding/json writes of the same values.
func TestBuilderWritesWhatTheLibraryDoes(t *testing.T) {
	t.Parallel()
	type inner struct {
		N uint64 `json:"n"`
		S string `json:"s"`
	}
	rapid.Check(t, func(t *rapid.T) {
		v := struct {
			Text  string         `json:"text"`
			Inner inner          `json:"inner"`
			Raw   []int          `json:"raw"`
			Empty map[string]int `json:"empty"`
		}{rapid.String().Draw(t, "text"), inner{rapid.Uint64().Draw(t, "n"), rapid.String().Draw(t, "s")}, []int{1, 2}, nil}
		want, err := json.Marshal(v)
		if err != nil {
			t.Skip("no UTF-8")
		}
		var b, in, none object.Builder
		in.Integer("n", v.Inner.N)
		in.Text("s", v.Inner.S)
		b.Text("text", v.Text)
		b.Object("inner", in)
		b.Raw("raw", []byte("[1,2]"))
		b.Object("empty", none)
		got, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestObjectWithoutClosingBrace(t *testing.T) {
	t.Parallel()
	var empty, b object.Builder
	b.Integer("n", 7)
	for want, b := range map[string]*object.Builder{"{": &empty, `{"n":7`: &b} {
		if got, err := b.Open(); err != nil || string(got) != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

// A text that is not UTF-8 fails the whole object, also from inside.
func TestBadTextIsNotLost(t *testing.T) {
	t.Parallel()
	var b, in object.Builder
	in.Text("s", "\xff")
	b.Object("in", in)
	b.Text("later", "fine")
	if _, err := in.Bytes(); err == nil {
		t.Error("the inner object: no error")
	}
	if _, err := b.Bytes(); err == nil {
		t.Error("the outer object: no error")
	}
}
