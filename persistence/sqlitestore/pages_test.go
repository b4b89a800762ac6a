package sqlitestore_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/persistence"
	"simplex/persistence/storetest"
)

func pageSize(t *testing.T, root string) int {
	t.Helper()
	raw, err := os.ReadFile(statePath(root))
	must(t, err)
	return int(binary.BigEndian.Uint16(raw[16:]))
}

// A database keeps the size of its pages: 4096 is what databases had before.
func TestDatabaseWithOtherPages(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 4096, 32768} {
		root := t.TempDir()
		st := storetest.Session(3)
		mustSaveIn(t, root, st)
		if got := pageSize(t, root); got != 1024 {
			t.Fatalf("a new database has pages of %d bytes", got)
		}
		repage(t, root, size)
		store := mustOpen(t, config(root))
		st, err := store.Load(t.Context())
		must(t, err)
		for range 20 {
			err := toolTurn(st, func(b persistence.Boundary) error { return store.Save(t.Context(), st, b) }, turnSize/4)
			must(t, err)
		}
		want := storetest.Text(t, st)
		if got, _ := mustRead(t, statePath(root)); got != want {
			t.Errorf("pages of %d bytes: another session is read beside the worker", size)
		}
		must(t, store.Close())
		if got := storetest.Text(t, mustLoad(t, root)); got != want {
			t.Errorf("pages of %d bytes: another session is loaded", size)
		}
		if got, _ := mustRead(t, statePath(root)); got != want || pageSize(t, root) != size {
			t.Errorf("pages of %d bytes became %d, or another session is read", size, pageSize(t, root))
		}
	}
}

// repage gives a closed database pages of another size.
func repage(t *testing.T, root string, size int) {
	t.Helper()
	c, err := (&sqlite3.SQLiteDriver{}).Open("file:" + statePath(root))
	must(t, err)
	_, err = c.(*sqlite3.SQLiteConn).Exec(fmt.Sprintf(
		"PRAGMA journal_mode = DELETE; PRAGMA page_size = %d; VACUUM; PRAGMA journal_mode = WAL", size), nil)
	must(t, err)
	must(t, c.Close())
}
