// Package llm names what a model provider is: a conversation goes in, one finished
// model response comes out. It owns the Provider interface, the configuration that
// builds one, the errors an exchange can end with, and the rules for options that
// change at run time (worker-data.md §2.5, §2.6, §6).
//
// It refuses to know any protocol: chat speaks Chat Completions, deepseek is a table
// of differences on top of it, offline is a scripted server with a provider that
// talks to it, post carries bytes with retries, sse splits event streams, and
// providers lists the plugins that are compiled in.
//
// Invariants: a response is returned whole or not at all; a failed exchange leaves
// nothing behind; no error text holds a key or a header value; a cancelled exchange
// returns an error that wraps the context's.
package llm
