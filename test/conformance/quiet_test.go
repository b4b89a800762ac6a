package conformance

import (
	"io"
	"log"
)

// quiet swallows what a test server says about handshakes that must fail.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
