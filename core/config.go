package core

import (
	"log/slog"
	"time"

	"simplex/load"
	"simplex/process/kin"
)

// Config is what an Application is made of. The configuration must have come from load,
// which checked it.
type Config struct {
	SessionID string
	Worker    *load.Config
	Env       load.Env
	Logger    *slog.Logger // nil: nothing is logged
	// Reaper finds and ends descendants that left their groups. It is the process's, so
	// the caller makes and closes it; nil leaves such descendants alone.
	Reaper *kin.Reaper

	Clock func() time.Time // nil: the system clock; used for time stamps only
	NewID func() string    // nil: random UUIDs
}
