package targets

import (
	"testing"
	"time"
)

// eventually asks again and again, for what another machine will not announce.
func eventually(t testing.TB, what string, true func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !true() {
		if time.Since(began) > patience {
			t.Fatalf("still not so: %s", what)
		}
		<-tick.C
	}
	return time.Since(began)
}
