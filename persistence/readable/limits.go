package readable

import (
	"errors"
	"fmt"
)

// ErrLimits is returned for limits outside their ranges.
var ErrLimits = errors.New("preview limit out of range")

// The limits of worker-data.md §7.3.
const (
	DefaultString = 1024
	DefaultItems  = 32
	DefaultDepth  = 6
	DefaultBlock  = 8192

	MaxDepth = 64
	MinBlock = 64
)

// Limits bound a JSON preview. A zero field means its default.
type Limits struct {
	String int // bytes of one string or key; default DefaultString
	Items  int // entries of one object or array; default DefaultItems
	Depth  int // nesting; default DefaultDepth, at most MaxDepth
	Block  int // bytes of the whole preview; default DefaultBlock, at least MinBlock
}

func (l Limits) filled() (Limits, error) {
	for _, f := range []struct {
		name           string
		value          *int
		ordinary       int
		lowest, higher int
	}{
		{"string", &l.String, DefaultString, 1, 1 << 30},
		{"items", &l.Items, DefaultItems, 1, 1 << 30},
		{"depth", &l.Depth, DefaultDepth, 1, MaxDepth},
		{"block", &l.Block, DefaultBlock, MinBlock, 1 << 30},
	} {
		if *f.value == 0 {
			*f.value = f.ordinary
		}
		if *f.value < f.lowest || *f.value > f.higher {
			return l, fmt.Errorf("%w: %s is %d, not in %d..%d", ErrLimits, f.name, *f.value, f.lowest, f.higher)
		}
	}
	return l, nil
}
