package reading

import (
	"context"
	"math"
	"strings"

	"simplex/state"
	"simplex/tools"
)

// readText is the tool.
type readText struct {
	decl   tools.Declaration
	limits limits
}

func (t *readText) Declaration() tools.Declaration { return t.decl }

// query is a settled call.
type query struct {
	path         string
	bytes        bool // start and count are bytes, not lines
	start, count uint64
	format       string
}

// The formats.
const (
	plain      = "plain"
	lineIndex  = "line_index"
	byteRange  = "byte_range"
	hexEscaped = "hex_escaped"
)

func (t *readText) Prepare(a *tools.Arguments) (tools.Plan, error) {
	q := query{path: a.RequireString("path")}
	if strings.ContainsRune(q.path, 0) {
		a.Failf("path", "must not contain NUL")
	}
	mode := a.SettleEnum("mode", "lines", "lines", "bytes")
	q.bytes = mode == "bytes"
	q.start = a.SettleUint("start", 0, 0, math.MaxUint64)
	q.count = a.SettleUint("count", 200, 0, math.MaxUint64)
	q.format = a.SettleEnum("format", plain, plain, lineIndex, byteRange, hexEscaped)
	switch {
	case q.bytes && (q.format == lineIndex || q.format == byteRange):
		a.Failf("format", "%q needs mode \"lines\"; with mode \"bytes\" use plain or hex_escaped", q.format)
	case !q.bytes && q.format == hexEscaped:
		a.Failf("format", "%q needs mode \"bytes\"; with mode \"lines\" use plain, line_index or byte_range", q.format)
	}
	return tools.Plan{
		Type: state.ReadOnly, Security: state.Trusted,
		Invoke: func(context.Context) (state.Result, error) { return t.read(q) },
	}, nil
}
