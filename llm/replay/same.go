package replay

import (
	"bytes"
	"unsafe"

	"simplex/state"
)

// sameSlice tells whether two slices are the same piece of memory. Records are never
// written to once they are part of a state, so the content is the same, too.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && unsafe.SliceData(a) == unsafe.SliceData(b)
}

// block is how many turns are compared at once.
const block = 64

// common is the length of the common prefix. It goes by blocks of memory, as it is most
// of what a request costs when the history is long.
func common(x, y []*state.Turn) int {
	n, i := min(len(x), len(y)), 0
	for i+block <= n && bytes.Equal(memory(x[i:i+block]), memory(y[i:i+block])) {
		i += block
	}
	for i < n && x[i] == y[i] {
		i++
	}
	return i
}

// memory is the memory of a slice of pointers.
func memory(turns []*state.Turn) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(turns))), len(turns)*int(unsafe.Sizeof(turns[0])))
}
