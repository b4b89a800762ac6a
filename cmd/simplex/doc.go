// Command simplex runs one worker on a target machine (run), manages the storage that
// workers leave there (manage), and drives a worker from a terminal (chat).
//
// Flags in, exit code out: 0 after an orderly end, 1 after a reported failure, 2 for
// wrong usage, 128 + n when a second signal n ends it at once. Standard output carries
// answers and JSON only; everything else goes to standard error.
package main
