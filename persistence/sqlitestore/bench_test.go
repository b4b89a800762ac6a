package sqlitestore_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

// turnSize is the text of one turn in bytes.
const turnSize = 2048

// history is a session of that many tool turns.
func history(b testing.TB, turns int) *state.State {
	b.Helper()
	st := storetest.Session(0)
	all := make([]*state.Turn, 0, turns)
	for range turns {
		st.Turns = all[:len(all):len(all)]
		if err := toolTurn(st, func(persistence.Boundary) error { return nil }, turnSize/4); err != nil {
			b.Fatal(err)
		}
		all = append(all, st.LastTurn())
	}
	st.Turns = all
	return st
}

// written is what this process has handed to the kernel for files, in bytes.
func written(b testing.TB) int64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(raw)) {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			v, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return v
		}
	}
	b.Fatal("no wchar in /proc/self/io")
	return 0
}

// used is the processor time of this process, or of the calling thread, which must be locked
// to its goroutine. Unlike the clock it hardly depends on what else runs on the machine.
func used(b testing.TB, who int) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(who, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

const usedByThread = 1 // RUSAGE_THREAD

// open opens a store of the format in dir.
func open(b testing.TB, format, dir string) persistence.Store {
	b.Helper()
	var store persistence.Store
	var err error
	if format == sqlitestore.Format {
		store, err = sqlitestore.Open(config(dir))
	} else {
		store, err = jsonstore.Open(jsonstore.Config{Root: dir, SessionID: storetest.SessionID})
	}
	if err != nil {
		b.Fatal(err)
	}
	return store
}

// BenchmarkToolTurn is the three saves of one tool turn after a history of 2 KB turns:
// before_tools, results_ready, step_finished.
func BenchmarkToolTurn(b *testing.B) {
	for _, turns := range []int{10, 1000, 10000} {
		base := history(b, turns)
		for _, format := range []string{"json", "sqlite"} {
			b.Run(fmt.Sprintf("%s/%d", format, turns), func(b *testing.B) { benchToolTurn(b, format, base) })
		}
	}
}

func benchToolTurn(b *testing.B, format string, base *state.State) {
	store := open(b, format, b.TempDir())
	defer store.Close()
	st := base.Clone()
	for range 2 { // the first makes the file, the second meets it
		if err := store.Save(b.Context(), st, persistence.RunFinished); err != nil {
			b.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var spent, worked time.Duration
	saves, before := 0, written(b)
	for b.Loop() {
		err := toolTurn(st, func(at persistence.Boundary) error {
			if at == persistence.RunFinished {
				return nil
			}
			began, idle := time.Now(), used(b, usedByThread)
			err := store.Save(context.Background(), st, at)
			spent += time.Since(began)
			worked += used(b, usedByThread) - idle
			saves++
			return err
		}, turnSize/4)
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "µs/tool-turn")
	b.ReportMetric(float64(worked.Microseconds())/float64(b.N), "cpu-µs/tool-turn")
	b.ReportMetric(float64(written(b)-before)/float64(saves), "B/save")
}

// BenchmarkHandWritten is the floor: the text of the same three saves as one INSERT each
// into one table, in one transaction each, WAL and FULL, pages of SQLite's default size.
func BenchmarkHandWritten(b *testing.B) {
	c, err := (&sqlite3.SQLiteDriver{}).Open("file:" + filepath.Join(b.TempDir(), "x.db") + "?_journal_mode=WAL&_synchronous=FULL&_stmt_cache_size=4")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	db := c.(*sqlite3.SQLiteConn)
	if _, err := db.Exec("CREATE TABLE message (id INTEGER PRIMARY KEY, body TEXT)", nil); err != nil {
		b.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, saves, idle := written(b), 0, used(b, usedByThread)
	for b.Loop() {
		for _, parts := range []int{2, 2, 1} { // input and call; call and result; result
			// The connection keeps the statement prepared: _stmt_cache_size.
			_, err := db.Exec("INSERT INTO message (body) VALUES (?)", []driver.Value{strings.Repeat("x", parts*turnSize/4)})
			if err != nil {
				b.Fatal(err)
			}
			saves++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/tool-turn")
	b.ReportMetric(float64((used(b, usedByThread)-idle).Microseconds())/float64(b.N), "cpu-µs/tool-turn")
	b.ReportMetric(float64(written(b)-before)/float64(saves), "B/save")
}

// BenchmarkLoad is the cold start of both formats.
func BenchmarkLoad(b *testing.B) {
	for _, turns := range []int{10, 325, 1000, 10000} { // 325 turns are 1 MB
		st := history(b, turns)
		for _, format := range []string{"json", "sqlite"} {
			b.Run(fmt.Sprintf("%s/%d", format, turns), func(b *testing.B) {
				dir := b.TempDir()
				store := open(b, format, dir)
				if err := store.Save(b.Context(), st, persistence.RunFinished); err != nil {
					b.Fatal(err)
				}
				_ = store.Close()
				idle := used(b, syscall.RUSAGE_SELF)
				for b.Loop() {
					store := open(b, format, dir)
					if _, err := store.Load(b.Context()); err != nil {
						b.Fatal(err)
					}
					_ = store.Close()
				}
				b.ReportMetric(float64((used(b, syscall.RUSAGE_SELF)-idle).Microseconds())/float64(b.N), "cpu-µs/op")
			})
		}
	}
}

// BenchmarkLoadAfterAKill is a start with a log that its owner left: recovery, integrity
// check and load.
func BenchmarkLoadAfterAKill(b *testing.B) {
	for _, turns := range []int{10, 1000, 10000} {
		b.Run(strconv.Itoa(turns), func(b *testing.B) {
			from := b.TempDir()
			store := open(b, sqlitestore.Format, from)
			defer store.Close()
			st := history(b, turns)
			for range 2 { // the second save is in the log
				if err := store.Save(b.Context(), st.Clone(), persistence.StepFinished); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				b.StopTimer()
				root := b.TempDir()
				if err := os.CopyFS(root, os.DirFS(from)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				store := open(b, sqlitestore.Format, root)
				if _, err := store.Load(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = store.Close()
				b.StartTimer()
			}
		})
	}
}
