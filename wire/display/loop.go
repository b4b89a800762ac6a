package display

import (
	"encoding/json/jsontext"
	"strconv"

	"simplex/state"
	"simplex/wire"
)

// Loop is the display copy of the loop progress inside a status object; nil for nil.
func Loop(p *state.LoopProgress) jsontext.Value {
	if p == nil {
		return nil
	}
	dst := strconv.AppendUint([]byte(`{"committed_response_sequence":`), p.CommittedSequence, 10)
	dst = strconv.AppendUint(append(dst, `,"completed_exchanges":`...), p.CompletedExchanges, 10)
	dst = appendBounded(append(dst, `,"error":`...), p.Error, wire.MaxNotice)
	dst = append(append(dst, `,"pending_results":`...), Results(p.Pending)...)
	dst = wire.AppendString(append(dst, `,"phase":`...), string(p.Phase))
	dst = wire.AppendString(append(dst, `,"status":`...), string(p.Status))
	return append(dst, '}')
}
