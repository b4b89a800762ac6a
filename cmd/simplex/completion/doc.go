// Package completion writes what a shell needs to complete a command line: for bash, zsh
// and fish, from the tree of commands and flags and nothing else.
//
// The scripts ask no program: a Tab starts no process. What follows a flag is known by
// the word that stands for its value in the help: FILE, FORMAT or LEVEL.
package completion
