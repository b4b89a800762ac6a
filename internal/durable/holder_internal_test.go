package durable

import "testing"

const lockTable = `1: FLOCK  ADVISORY  WRITE 812 fe:00:262 0 EOF
1: -> FLOCK  ADVISORY  WRITE 999 fe:00:263 0 EOF
2: POSIX  ADVISORY  WRITE 77 fe:00:264 0 EOF
3: FLOCK  ADVISORY  WRITE -1 fe:00:265 0 EOF
4: FLOCK  ADVISORY
5: FLOCK  ADVISORY  READ  5 fe:00:2621 0 EOF
`

func TestFindHolder(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{
		"fe:00:262":  812,
		"fe:00:263":  0, // only waits
		"fe:00:264":  0, // a lock of another kind
		"fe:00:265":  -1,
		"fe:00:2621": 5,
		"00:00:262":  0,
	} {
		if got := findHolder(lockTable, id); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	if got := printable("a\x1b[31m\u00e9"); got != "a?[31m?" {
		t.Errorf("%q", got)
	}
}

func FuzzFindHolder(f *testing.F) {
	f.Add(lockTable, "fe:00:262")
	f.Fuzz(func(t *testing.T, table, id string) { _ = findHolder(table, id) })
}
