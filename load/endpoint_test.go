package load

import "testing"

// TestParseEndpoint is the URL rule of §2.7.
func TestParseEndpoint(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Endpoint{
		"ws://h":                {Host: "h", Port: 80, Target: "/"},
		"wss://h":               {Secure: true, Host: "h", Port: 443, Target: "/"},
		"ws://h:8080/a/b?c=d/e": {Host: "h", Port: 8080, Target: "/a/b?c=d/e"},
		"ws://h?token=1":        {Host: "h", Port: 80, Target: "/?token=1"},
		"ws://h:1?x":            {Host: "h", Port: 1, Target: "/?x"},
		"wss://h:65535/":        {Secure: true, Host: "h", Port: 65535, Target: "/"},
		"ws://[::1]:9000/w":     {Host: "::1", Port: 9000, Target: "/w"},
		"ws://[fe80::1]":        {Host: "fe80::1", Port: 80, Target: "/"},
		"ws://h/a@b":            {Host: "h", Port: 80, Target: "/a@b"},
	} {
		got, err := ParseEndpoint(in)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
		if again, err := ParseEndpoint(got.String()); err != nil || again != got {
			t.Errorf("%s: written as %s, which gives %+v, %v", in, got, again, err)
		}
	}
	for _, bad := range []string{
		"", "h", "http://h", "WS://h", "Ws://h", "ws:/h", "ws://", "ws:///p", "ws://?q", "ws://u@h", "ws://u:p@h/", "ws://h#f", "ws://h/a b", "ws://h\t", "ws://h\r\n", " ws://h", "ws://h/\x00",
		"ws://:80", "ws://h:", "ws://h:0", "ws://h:65536", "ws://h:-1", "ws://h:+1", "ws://h:8a", "ws://::1", "ws://::1:80", "ws://[::1", "ws://[::1]x", "ws://[::1]:", "ws://[h]:80", "ws://[127.0.0.1]", "ws://[]", "ws://a]:80",
	} {
		if got, err := ParseEndpoint(bad); err == nil || got != (Endpoint{}) {
			t.Errorf("%q: accepted as %+v", bad, got)
		}
	}
}

// TestRoute shows how a remote tool is addressed: on the path, the query kept.
func TestRoute(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ws://h": "ws://h/plan", "ws://h/tools": "ws://h/tools/plan", "ws://h/tools/?t=1/2": "ws://h/tools/plan?t=1/2", "wss://[::1]:9?t": "wss://[::1]:9/plan?t",
	} {
		ep, err := ParseEndpoint(in)
		if err != nil || ep.Route("plan").String() != want {
			t.Errorf("%s: got %s, %v", in, ep.Route("plan"), err)
		}
	}
}

func FuzzParseEndpoint(f *testing.F) {
	for _, s := range []string{"ws://h:1/a?b", "wss://[::1]:2", "ws://[fe80::1%25a]", "ws://?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ep, err := ParseEndpoint(s)
		if err != nil {
			return
		}
		if again, err := ParseEndpoint(ep.String()); err != nil || again != ep {
			t.Fatalf("%q becomes %q: %+v, %v", s, ep.String(), again, err)
		}
	})
}
