package readable_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"simplex/persistence/readable"
	"simplex/state"
)

// An export is linear in what it writes and keeps nothing of it.
func BenchmarkWrite(b *testing.B) {
	for _, turns := range []int{100, 2000} {
		b.Run(fmt.Sprint(turns, " turns"), func(b *testing.B) {
			st := state.New("s", time.Unix(0, 0))
			text := strings.Repeat("A line of text, with `ticks` in it.\n", 350)
			for range turns {
				st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "question")})
				st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", text)})
				st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", `{"a":[`+strings.Repeat("1,", 6000)+`1]}`)})
			}
			b.SetBytes(int64(turns * (len(text) + 12008)))
			b.ReportAllocs()
			for b.Loop() {
				if err := readable.Write(io.Discard, st, readable.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
