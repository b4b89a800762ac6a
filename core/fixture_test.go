package core

import (
	"context"
	"log/slog"
	"time"

	"simplex/persistence"
	"simplex/state"
	"simplex/wire"
)

// testApplication is an Application with a session and an outbox and nothing else. told
// gives the events it published since, each as its name and data.
func testApplication(store persistence.Store) (app *Application, told func() []string) {
	app = &Application{
		workerID: "w", clock: time.Now, logger: slog.New(slog.DiscardHandler),
		seen: newRemembered(), outbox: newOutbox(wire.EventCapacity, func() int { return 0 }),
	}
	app.current.Store(&place{})
	app.session = &session{
		id: "s", st: state.New("s", time.Unix(0, 0)), store: store, logger: app.logger,
		persisted: app.announceSaved, failed: app.announceStorageFailed,
	}
	app.session.expose()
	return app, func() []string {
		var out []string
		for {
			if n, _ := app.outbox.load(); n == 0 {
				return out
			}
			raw, _ := app.outbox.next(context.Background())
			app.outbox.done()
			e, _ := wire.DecodeEvent(raw)
			out = append(out, string(e.Name)+" "+string(e.Data))
		}
	}
}
