package bench

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// echoVariable in the environment makes the test binary a Hub that sends everything back.
const echoVariable = "SIMPLEX_BENCH_ECHO"

// echoHub is in a process of its own, as a Hub is: in one process the runtime would hand
// both ends of a bare connection to one thread, and save the switch that all others pay.
func echoHub(b *testing.B) (url string) {
	b.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), echoVariable+"=1")
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	must(b, err)
	return "ws://" + strings.TrimSpace(address)
}

// serveEcho prints its address and serves until standard input ends.
func serveEcho() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	upgrader := websocket.Upgrader{ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10}
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			for {
				kind, m, err := c.ReadMessage()
				if err != nil || c.WriteMessage(kind, m) != nil {
					return
				}
			}
		}))
	}()
	fmt.Println(l.Addr())
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return 0
}
