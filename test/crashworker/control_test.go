//go:build crash

package crashworker

import (
	"fmt"
	"path/filepath"
	"testing"
)

// control is an fsync that is left out: the kernel skips it and says that it was done.
type control struct {
	name, format string
	path         string // below the session root; "": every fsync
}

func controls() []control {
	return []control{
		{"none at all", "json", ""},
		{"not of the directory", "json", "state"},
		{"none at all", "sqlite", ""},
		{"not of the log", "sqlite", "state/state.db-wal"},
	}
}

// TestPowerCutsSeeAMissingSync cuts the power after the last save of a driver without
// fsyncs, which ends without closing the store.
func TestPowerCutsSeeAMissingSync(t *testing.T) {
	if !inside(t) {
		return
	}
	t.Setenv(leaveVariable, "1")
	planted, caught := 0, 0
	for _, d := range disks(t) {
		for _, c := range controls() {
			base := d.base(func(mnt string) {
				if err := saveTurns(c.format, sessionRoot(mnt), 3, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
			})
			path := ""
			if c.path != "" {
				path = filepath.Join(sessionRoot(d.mnt), c.path)
			}
			d.begin(base)
			acknowledged, _, struck := driven(t, c.format, sessionRoot(d.mnt), "fsync,fdatasync:retval=0", path)
			d.cut()
			d.restore()
			var f figures
			f.check("control", c.format, sessionRoot(d.mnt), documents(3, turnsSaved), acknowledged)
			d.end()
			planted++
			seen := struck && f.lost+f.corrupt > 0
			if seen {
				caught++
			}
			fmt.Printf("control power: fsync: %-20s fs=%-14s format=%-6s %v seen=%v\n", c.name, d.name, c.format, &f, seen)
		}
	}
	fmt.Printf("controls power planted=%d caught=%d\n", planted, caught)
	if caught != planted {
		t.Errorf("%d of %d missing fsyncs were seen", caught, planted)
	}
}
