// Package hubcall is the toolset of remote calls to the Hub (contract tools.md §3.4):
// plan, subagent_fork, subagent_send and subagent_receive.
//
// It owns the arguments, one call on the wire, the strict reading of what comes back,
// the wording of failures, and how the texts of a child share the room of an answer.
//
// It refuses answers whose ids, route or shape are not those that are due, and what it
// cannot show within its limits. It takes no id of its own side from the model.
//
// Invariants:
//   - Building the set opens no connection; each call opens one and closes it.
//   - A call is made once, never again, and a cancelled run does not cut it short.
//   - Neither endpoint nor token is in any message, and of the subagents' routes no
//     message text of the Hub is.
//   - An answer is at most 256 KiB of valid UTF-8, cut between characters only.
package hubcall

//go:generate go test -run TestDeclarationsUpToDate -update .
