// Package fakehub is a Hub for tests of the worker: it serves the event and confirmation
// endpoints of wire.md on loopback, keeps every event that came, and sends exactly the
// bytes it is told to, valid or not.
//
// It shares no code with the worker or with package adapter, so that a mistake in their
// common codec cannot hide itself: envelopes are read here member by member.
//
// It refuses to judge: what order or what data is right is the test's to say. Only what
// no test could want fails at once: an event that is no text frame or whose envelope is
// not the eight members of wire.md §2 is kept as a Fault.
//
// Invariants: events are kept in order of arrival over all connections; Down and Close
// return after every goroutine of the hub's connections has ended; every wait takes a
// context.
package fakehub
