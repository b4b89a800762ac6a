package conformance

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"simplex/test/conformance/rig"
)

func TestMain(m *testing.M) {
	code := rig.Main(m, rig.Race)
	if all := flag.Lookup("test.run").Value.String() == ""; code == 0 && all && !covered() {
		code = 1
	}
	os.Exit(code)
}

// covered tells of the rows played and whether each section of wire.md has some.
func covered() bool {
	ok, sum := true, 0
	for _, n := range counted.rows {
		sum += n
	}
	for section := 1; section <= 11; section++ {
		n := counted.rows[strconv.Itoa(section)]
		fmt.Printf("§%d: %d rows\n", section, n)
		ok = ok && n > 0
	}
	fmt.Printf("%d rows in all\n", sum)
	return ok
}

// row is one row of the contract's tables.
type row struct {
	section string // of wire.md; "w" in front: of worker-data.md
	name    string
	test    func(t *testing.T)
}

var counted struct {
	sync.Mutex
	rows map[string]int
}

// play runs rows beside each other.
func play(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run("§"+r.section+" "+r.name, func(t *testing.T) {
			t.Parallel()
			count(r.section)
			r.test(t)
		})
	}
}

func count(section string) {
	counted.Lock()
	defer counted.Unlock()
	if counted.rows == nil {
		counted.rows = make(map[string]int)
	}
	counted.rows[section]++
}
