// Package mcp offers the tools of a Model Context Protocol server as a toolset
// (tools.md §1.3, dynamic toolsets).
//
// It owns the server's process (its own group, standard streams only, its standard
// error in the log at debug), the names under which its tools are offered, the mapping
// of its results to ours, and the rules by which it is started again. The session with
// it is that of package client.
//
// It refuses: names the model could not call or that belong to a built-in tool
// (worker-data.md decision 9.6), requests of the server to the client (sampling, roots,
// elicitation: none is announced), and to do anything twice. A call that got no answer
// is reported as what it is, uncertain.
//
// Invariants:
//   - How a tool is guarded and scheduled comes from the host's Config, never from what
//     the server says of itself.
//   - The catalogue is that of the start. What a restarted server offers besides is not
//     seen; what it no longer offers answers an error record.
//   - A server that ended is started again at most MaxRestarts times, each time after a
//     longer pause. Its tools stay offered and answer error records meanwhile.
//   - After Shutdown the server and its group are gone: end of input, TERM, the grace
//     time, KILL. Whoever left the group falls to the reaper of package process.
package mcp
