package compact

import (
	"fmt"
	"testing"

	"simplex/state"
)

// The measure is linear in the history; it is made once for each compaction.
func BenchmarkContextBytes(b *testing.B) {
	for _, turns := range []int{100, 2000} {
		b.Run(fmt.Sprint(turns, " turns"), func(b *testing.B) {
			st := said(25000)
			one := st.Turns[0]
			st.Turns = make([]*state.Turn, turns)
			for i := range st.Turns {
				st.Turns[i] = one
			}
			b.SetBytes(int64(turns) * 25000)
			for b.Loop() {
				if _, err := ContextBytes(st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
