package offline

// sentence is long enough to come in several pieces.
const sentence = "This answer comes from a server with a quirk, and it is here from the first word to the last."

// streamQuirks are answers that are whole, in streams that are odd, and the two ways in
// which a stream breaks off.
func streamQuirks() []scenario {
	text := func(f Flaw) func(*Server, *request, string) Reply {
		return func(*Server, *request, string) Reply { return Reply{Text: sentence, Flaw: f} }
	}
	three := func(index string) func(*Server, *request, string) Reply {
		return func(_ *Server, r *request, _ string) Reply {
			if results := r.results(); len(results) > 0 {
				return Reply{Text: answer(results)}
			}
			return Reply{Calls: r.commands([]string{"echo a.txt", "echo b.txt", "echo c.txt"}), Flaw: Flaw{Index: index}}
		}
	}
	return []scenario{
		{Scenario: Scenario{"no-finish", "whole text, then a clean end: no finish_reason, no [DONE] (a broken stream)"}, play: text(Flaw{NoEnd: true, NoDone: true})},
		{Scenario: Scenario{"done-only", "[DONE], but no finish_reason"}, play: text(Flaw{NoEnd: true})},
		{Scenario: Scenario{"finish-only", "finish_reason, but no [DONE]"}, play: text(Flaw{NoDone: true})},
		{Scenario: Scenario{"empty-choices", "empty choices in the first chunk, and in the last one with the usage"}, play: text(Flaw{EmptyFirst: true})},
		{Scenario: Scenario{"index-zero", "three calls at once, all with index 0"}, play: three(IndexZero)},
		{Scenario: Scenario{"index-none", "three calls at once, none with an index"}, play: three(IndexNone)},
		{Scenario: Scenario{"keep-alive", "comments, pings, CRLF, data without the blank and in two lines"}, play: func(s *Server, _ *request, _ string) Reply {
			return Reply{Text: sentence, Flaw: Flaw{Noise: true, Pause: s.cfg.Slow / 10}}
		}},
		{Scenario: Scenario{"drip", "slow but healthy: a pause before each piece"}, play: func(s *Server, _ *request, _ string) Reply {
			return Reply{Text: sentence, Flaw: Flaw{Pause: s.cfg.Slow}}
		}},
		{Scenario: Scenario{"stall", "one piece, then silence with the connection open"}, play: text(Flaw{Stall: true})},
	}
}
