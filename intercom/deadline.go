package intercom

import (
	"net"
	"sync/atomic"
	"time"
)

// deadlineConn bounds each single read and write, so that a slow link may take its time
// with a large message while one without progress is noticed.
type deadlineConn struct {
	net.Conn
	readWithin  atomic.Int64 // nanoseconds without one byte; 0 = for ever
	writeWithin time.Duration
	explicit    time.Time // write deadline asked for by the WebSocket layer, which serialises writes
}

func (c *deadlineConn) Read(p []byte) (int, error) {
	if within := time.Duration(c.readWithin.Load()); within > 0 {
		if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(p)
}

func (c *deadlineConn) Write(p []byte) (int, error) {
	deadline := time.Now().Add(c.writeWithin)
	if !c.explicit.IsZero() && c.explicit.Before(deadline) {
		deadline = c.explicit
	}
	if err := c.Conn.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// SetWriteDeadline notes the deadline for the following writes.
func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	c.explicit = t
	return nil
}
