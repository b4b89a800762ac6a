// Package process is the toolset that runs programs for the model (contract
// tools.md §3.1): spawn_process, run_command, poll_process, read_process and
// send_process, over the session table of simplex/process.
//
// It owns the arguments and their defaults, what is waited for and how long, and
// the wording of results, hints and errors. It refuses arguments it does not know;
// it never kills a process for being slow, and takes no process id from the model.
//
// Invariants:
//   - A launch reads output in full and moves no cursor; a session is released at
//     launch only when everything it wrote stands in the answer.
//   - Whatever bytes a program writes, the result is valid UTF-8 without control
//     characters but TAB, LF and CR, and bounded by the capture limits.
//   - Waiting is by notification and always ends at a deadline.
package process
