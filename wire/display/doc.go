// Package display makes the copies of conversation records that the worker's events show
// (wire.md §7, worker-data.md §8): bounded in size whatever the record holds, so that any
// event stays below wire.MaxEvent.
//
// It refuses to change what it shows: execution and state keep the originals. All
// functions are pure, may be called concurrently, and do not copy what they cut: the cost
// of a projection follows its limits, not the record. (A fingerprint reads the whole
// answer, and counting the original bytes of a value scans it.)
package display
