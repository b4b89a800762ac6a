// Package llm names what a model provider is: a conversation goes in, one finished
// model response comes out. It owns the Provider interface, the configuration that
// builds one, the errors an exchange can end with, and the rules for options that
// change at run time (worker-data.md §2.5, §2.6, §6).
//
// It refuses to know any protocol: chat speaks Chat Completions and responses the
// protocol of that name, both on top of exchange, which has what they share; deepseek
// and qwen are tables of differences on top of chat; offline is a scripted server of
// both, with a provider that talks to it; replay builds bodies that grow with the
// conversation and keeps them valid, strict judges them as the strictest server would;
// post carries bytes with retries, sse splits event streams, and providers lists the
// plugins that are compiled in.
//
// Invariants: a response is returned whole or not at all; a failed exchange leaves
// nothing behind; no error text holds a key or a header value; a cancelled exchange
// returns an error that wraps the context's.
package llm
