package manager

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// seeded gives random numbers that SEED= brings back.
func seeded(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, seed))
}
