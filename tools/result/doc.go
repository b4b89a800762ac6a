// Package result renders what a tool answers as the text the model reads
// (contract tools.md §2, layout variant 4): records of [[name]]: value lines,
// followed by blocks of output.
//
// It owns the layout and nothing else: bodies are passed on as they are, so they can
// imitate markers. Markers are layout and no trust boundary.
//
// Invariant: what Content gives is valid UTF-8, whatever went in. A caller that has
// raw bytes makes them presentable first; here bad bytes are only a last resort.
package result
