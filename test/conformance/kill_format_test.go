package conformance

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"simplex/persistence/sqlitestore"
	"simplex/state"
	"simplex/test/conformance/rig"
)

// formats are the words of persistence.format.
var formats = []string{"json", "sqlite"}

// stored is the state on disk, whatever its format, after its owner was killed or ended;
// it must satisfy the structure rules. nil: nothing was saved.
func stored(t *testing.T, r *rig.Rig, format string) *state.State {
	t.Helper()
	if format == "json" {
		return r.State()
	}
	path := filepath.Join(filepath.Dir(r.StatePath()), sqlitestore.StateFile)
	var text bytes.Buffer
	_, err := sqlitestore.Read(t.Context(), path, &text)
	if errors.Is(err, sqlitestore.ErrNoState) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	st, err := state.Decode(text.Bytes())
	if err == nil {
		err = state.Check(st)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return st
}
