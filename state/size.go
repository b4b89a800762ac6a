package state

// The size measure of compaction (worker-data.md §4.5) counts compact JSON, in which
// invalid UTF-8 is replaced instead of being an error.

// CompactSize is the number of bytes of the turn's compact JSON.
func (t *Turn) CompactSize() int {
	w := writer{compact: true, replace: true}
	w.turn(t)
	return len(w.buf)
}

// ToolsCompactSize is the number of bytes of the compact JSON array of the tools.
func ToolsCompactSize(tools []Tool) int {
	w := writer{compact: true, replace: true}
	w.tools(tools)
	return len(w.buf)
}
