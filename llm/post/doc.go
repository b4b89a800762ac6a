// Package post sends one request body to a model provider and hands its event stream
// to a reader, as often as the retry rules allow (worker-data.md §6.1–6.3).
//
// It owns the URL and headers, the connection pool, the time limits, what is retried
// and how long to wait, and the text of a refusal. It refuses to know what the bytes
// mean: chat (and any other protocol) encodes the body and reads the events.
//
// Invariants: HTTP/1.1 POST, redirects are not followed, TLS is verified; every try
// sends the same bytes; no goroutine reads the body after Do has returned; no error
// text holds the key or a configured header value; every wait ends with the context.
package post
