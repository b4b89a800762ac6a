package post

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"simplex/llm"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, path, want string }{
		{"https://api.example.com", "/chat/completions", "https://api.example.com/chat/completions"},
		{"api.example.com", "chat/completions", "https://api.example.com/chat/completions"},
		{"http://localhost:8080/", "/v1/chat/completions", "http://localhost:8080/v1/chat/completions"},
		{"localhost:8080/prefix/", "/v1/x", "https://localhost:8080/prefix/v1/x"},
		{"https://h:443/a", "//b", "https://h/a/b"},
		{"http://h:80", "/b", "http://h/b"},
		{"http://h:443", "/b", "http://h:443/b"},
		{"http://h:", "/b", "http://h/b"},
		{"http://[::1]:9/x", "/y?api-version=1", "http://[::1]:9/x/y?api-version=1"},
		{"http://[::1]:80", "/y", "http://[::1]/y"},
		{"https://h/a%20b", "/c", "https://h/a%20b/c"},
	} {
		u, err := resolveURL(test.base, test.path)
		if err != nil || u.String() != test.want {
			t.Errorf("%s + %s = %v, %v; want %s", test.base, test.path, u, err, test.want)
		}
	}
	for _, bad := range []string{"", "https://", "ftp://h", "https:///path", "https://u:p@h", "https://h?x=1", "https://h#f", "http://h:x", "http://h:0", "http://h:99999", "http://h:65536", "https://h:-1"} {
		if u, err := resolveURL(bad, "/p"); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%q became %s, %v", bad, u, err)
		}
	}
}

// TestShownURL shows what an error tells of a URL, and that no part which could be a key
// is in it.
func TestShownURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://h/v1/v1/chat/completions":                           "https://h/v1/v1/chat/completions",
		"https://h:8443/compatible-mode/v1/responses?key=k#f":        "https://h:8443/compatible-mode/v1/responses",
		"https://u:p@h/v1/chat/completion":                           "https://h/v1/chat/completion",
		"https://h/openai/deployments/gpt-4o/chat/completions?api=1": "https://h/openai/deployments/…/chat/completions",
		"https://h/v1/sk-secret-12/openai":                           "https://h/v1/…/openai",
		"https://h/v1secret/vault/v123/%2e":                          "https://h/…/…/…/…",
		"http://[::1]:9":                                             "http://[::1]:9",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownURL(u); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestConnectErrorsNameTheURL connects to nobody.
func TestConnectErrorsNameTheURL(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	for base, want := range map[string]string{
		"http://" + at: "no connection to the model server for POST http://" + at + "/v1/chat/completions: dial tcp " + at + ": connect: connection refused",
		strings.Replace(plain.URL, "http:", "https:", 1): "begin endpoint.base_url with http://)",
		plain.URL + "/v1": "SSE request rejected: HTTP 404 Not Found to POST " + plain.URL + "/v1/v1/chat/completions (the path has /v1 twice: leave it out of endpoint.base_url, because endpoint.request_path begins with it): 404 page not found",
	} {
		c := newClient(t, Config{Model: llm.Config{Endpoint: llm.Endpoint{BaseURL: base, RequestPath: "/v1/chat/completions?key=hush"}}})
		err := c.Do(t.Context(), Body{[]byte("{}")}, readAll)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	type want map[string]string
	common := want{"Accept": "text/event-stream", "Content-Type": "application/json", "User-Agent": "agent/1", "Accept-Encoding": ""}
	tests := map[string]struct {
		auth  llm.Auth
		extra map[string]string
		want  want
	}{
		"bearer is the default": {auth: llm.Auth{APIKey: "k1"}, want: want{"Authorization": "Bearer k1"}},
		"custom header":         {auth: llm.Auth{Scheme: "custom_header", APIKey: "k1"}, want: want{"X-Api-Key": "k1", "Authorization": ""}},
		"named header":          {auth: llm.Auth{Scheme: "custom_header", APIKey: "k1", HeaderName: "api-key"}, want: want{"Api-Key": "k1"}},
		"none":                  {auth: llm.Auth{Scheme: "none", APIKey: "k1"}, want: want{"Authorization": "", "X-Api-Key": ""}},
		"unknown scheme":        {auth: llm.Auth{Scheme: "digest", APIKey: "k1"}, want: want{"Authorization": ""}},
		"no key":                {want: want{"Authorization": ""}},
		"extra headers win":     {auth: llm.Auth{APIKey: "k1"}, extra: map[string]string{"authorization": "Token t", "X-Team": "a", "User-Agent": "mine"}, want: want{"Authorization": "Token t", "X-Team": "a", "User-Agent": "mine"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, func(c *llm.Config) {
				c.Endpoint.UserAgent, c.Endpoint.Auth, c.Endpoint.ExtraHeaders = "agent/1", test.auth, test.extra
			}, func(_ int, w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.Method != http.MethodPost || r.Proto != "HTTP/1.1" || r.URL.Path != "/v1/x" || string(body) != `{"a":1}` || r.ContentLength != 7 {
					t.Errorf("%s %s %s %s", r.Method, r.Proto, r.URL, body)
				}
				for _, set := range []want{common, test.want} {
					for k, v := range set {
						if _, overridden := test.want[k]; r.Header.Get(k) != v && (!overridden || r.Header.Get(k) != test.want[k]) {
							t.Errorf("%s: %q, want %q", k, r.Header.Get(k), v)
						}
					}
				}
				write(w, stream)
			})
			if err := l.result(l.do(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHostHeader(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(c *llm.Config) {
		c.Endpoint.ExtraHeaders = map[string]string{"Host": "models.internal"}
	}, func(_ int, w http.ResponseWriter, r *http.Request) {
		if r.Host != "models.internal" {
			t.Errorf("host %q", r.Host)
		}
		write(w, stream)
	})
	if err := l.result(l.do(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestBadHeadersAreConfigurationErrors(t *testing.T) {
	t.Parallel()
	for _, e := range []llm.Endpoint{
		{Auth: llm.Auth{APIKey: "top\nsecret"}},
		{Auth: llm.Auth{Scheme: "custom_header", APIKey: "topsecret", HeaderName: "a b"}},
		{ExtraHeaders: map[string]string{"X-A": "topsecret\r\nX-B: 1"}},
		{ExtraHeaders: map[string]string{"": "topsecret"}},
	} {
		e.BaseURL = "http://h"
		_, err := New(Config{Model: llm.Config{Endpoint: e}})
		if !errors.Is(err, llm.ErrConfig) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 1 {
			t.Error("the redirect was followed")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	failed, ok := errors.AsType[*llm.Error](l.result(l.do(context.Background())))
	if !ok || failed.Status != http.StatusTemporaryRedirect {
		t.Error(failed)
	}
}
