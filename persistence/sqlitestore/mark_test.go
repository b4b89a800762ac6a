package sqlitestore_test

import (
	"os/exec"
	"strings"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/persistence"
	"simplex/persistence/storetest"
)

// A reader that stays in its transaction keeps the mark of a new owner out of the file.
// When that owner is killed, its log must not be taken for another copy's.
func TestReaderThatStaysWhileAnOwnerComesAndIsKilled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	c, err := (&sqlite3.SQLiteDriver{}).Open("file:" + statePath(root) + "?mode=ro")
	must(t, err)
	defer c.Close()
	reader := c.(*sqlite3.SQLiteConn)
	_, err = reader.Exec("BEGIN; SELECT count(*) FROM session", nil)
	must(t, err)

	out, err := childCommand(t, "save", root, "45").Output()
	if !killed(err) || acknowledged(out) == 0 {
		t.Fatalf("the child saved %d times: %v", acknowledged(out), err)
	}
	for range 2 { // the reader is there; the next owner ends in order, as far as it can
		st := mustLoad(t, root)
		if len(st.Turns) != 2 {
			t.Errorf("%d turns", len(st.Turns))
		}
	}
	_, err = reader.Exec("ROLLBACK", nil)
	must(t, err)
	must(t, c.Close())
	mustLoad(t, root)
	mustBe(t, names(t, root), "state.db")
}

// Loading alone leaves no trace.
func TestOwnerThatOnlyLoads(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustSaveIn(t, root, storetest.Session(1))
	before := contents(t, root)
	mustLoad(t, root)
	mustEqualFiles(t, contents(t, root), before)
}

func TestChildrenInheritNoDescriptor(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store := mustOpen(t, config(root))
	mustSave(t, store, storetest.Session(1), persistence.StepFinished)
	mustSave(t, store, storetest.Session(2), persistence.StepFinished)
	out, err := exec.CommandContext(t.Context(), "ls", "-l", "/proc/self/fd").Output()
	must(t, err)
	if strings.Contains(string(out), root) {
		t.Errorf("a child has\n%s", out)
	}
}
