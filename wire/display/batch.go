package display

import (
	"encoding/json/jsontext"
	"strconv"

	"simplex/state"
	"simplex/wire"
)

// Calls is the data of tool_calls: the calls as proposed, at most wire.BatchEntries of
// them, then one marker for the rest.
func Calls(calls []state.Call) jsontext.Value {
	return batch(calls, appendCall)
}

// Results is the data of tool_results, in call order and bounded like Calls.
func Results(results []state.Result) jsontext.Value {
	return batch(results, appendResult)
}

// batch is an array of what entry appends for each of all, of which n are shown.
func batch[T any](all []T, entry func(dst []byte, one *T, n int) []byte) jsontext.Value {
	n := min(len(all), wire.BatchEntries)
	dst := []byte{'['}
	for i := range all[:n] {
		dst = entry(appendComma(dst, i), &all[i], n)
	}
	if rest := len(all) - n; rest > 0 {
		dst = appendOmitted(appendComma(dst, n), rest)
	}
	return append(dst, ']')
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// appendCall appends one call of a batch of n; ids, name and classes always survive.
func appendCall(dst []byte, c *state.Call, n int) []byte {
	dst = append(dst, `{"arguments":`...)
	arguments := c.Arguments
	if !arguments.IsSet() {
		arguments = state.EmptyObject().Value
	}
	dst = AppendValue(dst, arguments, min(wire.EntryArguments, wire.BatchArguments/n))
	dst = appendExtras(dst, `,"extras":`, c.Extras)
	dst = appendBounded(append(dst, `,"id":`...), c.ID, wire.EntryIdentity)
	dst = appendBounded(append(dst, `,"name":`...), c.Name, wire.EntryIdentity)
	dst = appendBounded(append(dst, `,"security":`...), string(c.Security), wire.DisplayKey)
	dst = appendBounded(append(dst, `,"type":`...), string(c.Type), wire.DisplayKey)
	return append(dst, '}')
}

// appendResult appends one result of a batch of n.
func appendResult(dst []byte, r *state.Result, n int) []byte {
	dst = append(dst, `{"output":`...)
	dst = appendOutput(dst, &r.Output, min(wire.EntryOutput, wire.BatchOutput/n))
	dst = append(dst, `,"query":`...)
	dst = appendCall(dst, &r.Call, n)
	dst = appendExtras(dst, `,"extras":`, r.Extras)
	return append(dst, '}')
}

// appendOutput appends a tool's output in at most budget encoded bytes of raw.
func appendOutput(dst []byte, c *state.Content, budget int) []byte {
	n := 0
	if c.Type != state.TypeBinary {
		n, _ = fit(c.Raw, budget)
	}
	dst = wire.AppendString(append(dst, `{"type":`...), string(c.Type))
	dst = wire.AppendString(append(dst, `,"raw":`...), c.Raw[:n])
	dst = wire.AppendString(append(dst, `,"modality":`...), string(c.Modality))
	if n < len(c.Raw) {
		dst = strconv.AppendInt(append(dst, `,"truncated":true,"bytes":`...), int64(len(c.Raw)), 10)
	}
	return append(dst, '}')
}
