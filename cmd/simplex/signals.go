package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// stopSignals gives a context that ends with the first of the signals. A second one calls
// abort and ends the process at once with 128 + its number. release must be called.
func stopSignals(parent context.Context, abort func(), signals ...os.Signal) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, signals...)
	// A closed standard error must not end a worker. Notify, unlike Ignore, is not
	// inherited by children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-ch:
			cancel()
		case <-done:
			return
		}
		select {
		case s := <-ch:
			abort()
			os.Exit(exitSignal + int(s.(syscall.Signal)))
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		<-gone // never, once a second signal came: the exit code is its
		cancel()
	}
}
