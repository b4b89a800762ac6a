package wire_test

import (
	"strings"
	"testing"

	"simplex/wire"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, full, address, redacted string }{
		{"ws://h", "ws://h/", "h:80", "ws://h/"},
		{"ws://h?token=s", "ws://h/?token=s", "h:80", "ws://h/"},
		{"wss://hub.example:443/a/b?t=1&u=2", "wss://hub.example/a/b?t=1&u=2", "hub.example:443", "wss://hub.example/a/b"},
		{"wss://h:80/", "wss://h:80/", "h:80", "wss://h:80/"},
		{"ws://127.0.0.1:8800/worker/x?a=/b?c", "ws://127.0.0.1:8800/worker/x?a=/b?c", "127.0.0.1:8800", "ws://127.0.0.1:8800/worker/x"},
		{"ws://[::1]:9/x", "ws://[::1]:9/x", "[::1]:9", "ws://[::1]:9/x"},
		{"wss://[fd00::2]", "wss://[fd00::2]/", "[fd00::2]:443", "wss://[fd00::2]/"},
		{"ws://h:00080", "ws://h/", "h:80", "ws://h/"},
		{"ws://h:65535", "ws://h:65535/", "h:65535", "ws://h:65535/"},
	}
	for _, tt := range tests {
		u, err := wire.ParseURL(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if u.String() != tt.full || u.Address() != tt.address || u.Redacted() != tt.redacted {
			t.Errorf("%s: %s %s %s", tt.text, u.String(), u.Address(), u.Redacted())
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "ws", "ws:/h", "ws://", "wss://", "WS://h", "Ws://h", "http://h", "//h", " ws://h", "ws://h ", "ws://h/ x",
		"ws://h\t", "ws://h/\n", "ws://h/\r", "ws://h/#f", "ws://h#", "ws://u@h", "ws://u:p@h/", "ws:///x", "ws://?x", "ws://:80",
		"ws://h:", "ws://h:0", "ws://h:65536", "ws://h:-1", "ws://h:+1", "ws://h:8o", "ws://h:80:80", "ws://::1",
		"ws://::1:80", "ws://[::1", "ws://[::1]x", "ws://[::1]:", "ws://[]", "ws://[h]:80", "ws://[127.0.0.1]", "ws://h]:80",
		"ws://h/%zz", "ws://h/\x00secret",
	} {
		u, err := wire.ParseURL(text)
		if err == nil {
			t.Errorf("%q: accepted as %+v", text, u)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error quotes it: %v", text, err)
		}
	}
}

func TestURLWithRoute(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ws://h":              "ws://h/plan/read",
		"ws://h/tools//?t=a/": "ws://h/tools/plan/read?t=a/",
		"ws://h/tools":        "ws://h/tools/plan/read",
	} {
		u, err := wire.ParseURL(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.WithRoute(wire.RoutePlanRead).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"ws://h", "wss://[::1]:9/x?y", "ws://a:1?b", "ws://h:80:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := wire.ParseURL(text)
		if err != nil {
			return
		}
		again, err := wire.ParseURL(u.String())
		if err != nil || again != u {
			t.Fatalf("%q: %+v became %+v, %v", text, u, again, err)
		}
		if strings.Contains(u.Redacted(), "?") {
			t.Fatalf("%q: the query is shown", text)
		}
	})
}
