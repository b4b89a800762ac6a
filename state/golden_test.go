package state

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func encoded(t testing.TB, st *State) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Encode(&out, st); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decoded(t testing.TB, raw []byte) *State {
	t.Helper()
	st, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// The documents in testdata come back byte for byte.
func TestDocumentsAreWrittenBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example.json", "full.json", "fresh.json"} {
		raw := readFile(t, name)
		if diff := cmp.Diff(string(raw), string(encoded(t, decoded(t, raw)))); diff != "" {
			t.Errorf("%s (-file +written):\n%s", name, diff)
		}
	}
}

// An older file is read by the tolerance rules and written in today's form.
func TestLegacyForms(t *testing.T) {
	t.Parallel()
	got := encoded(t, decoded(t, readFile(t, "legacy.json")))
	if diff := cmp.Diff(string(readFile(t, "legacy.golden.json")), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExampleIsTyped(t *testing.T) {
	t.Parallel()
	st := decoded(t, readFile(t, "example.json"))
	if err := Check(st); err != nil {
		t.Error(err)
	}
	step := st.Turns[0].Steps[0]
	if got := step.ModelResponse.Cost.Generated; got != 18 {
		t.Errorf("generated: %d", got)
	}
	if got := step.Returns[0].Result.Call; got.Security != Trusted || CallLabel(got) != "read_text__c1" {
		t.Errorf("settled call: %+v", got)
	}
	exec, _ := step.Extras.Get("simplex.execution")
	obj, err := exec.Object()
	if err != nil {
		t.Fatal(err)
	}
	run, _ := obj.Get("run_id")
	if text, ok := run.Text(); !ok || text != "run-1" {
		t.Errorf("run id: %q", text)
	}
	if got := st.LastStep().ModelResponse.Text(); got != "It says hello." {
		t.Errorf("answer: %q", got)
	}
}
