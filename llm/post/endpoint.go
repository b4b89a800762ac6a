package post

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"simplex/llm"
)

// target is an endpoint made ready: where to post, and with which headers.
type target struct {
	url    *url.URL
	host   string // the Host header, when it is not the URL's
	header http.Header
}

// resolve applies §6.1 to an endpoint that has the plugin's values already.
func resolve(e llm.Endpoint) (target, error) {
	u, err := resolveURL(e.BaseURL, e.RequestPath)
	if err != nil {
		return target{}, fmt.Errorf("%w: %w", llm.ErrConfig, err)
	}
	t := target{url: u, header: http.Header{}}
	t.header.Set("Accept", "text/event-stream")
	t.header.Set("Content-Type", "application/json")
	if err := t.set("user_agent", "User-Agent", e.UserAgent); err != nil {
		return target{}, err
	}
	if e.Auth.APIKey != "" {
		if err := t.authorize(e.Auth); err != nil {
			return target{}, err
		}
	}
	for name, value := range e.ExtraHeaders {
		if err := t.set("extra_headers."+name, name, value); err != nil {
			return target{}, err
		}
	}
	return t, nil
}

func (t *target) authorize(a llm.Auth) error {
	switch a.Scheme {
	case llm.AuthBearer, "":
		return t.set("auth.api_key", "Authorization", "Bearer "+a.APIKey)
	case llm.AuthCustom:
		name := a.HeaderName
		if name == "" {
			name = "x-api-key"
		}
		return t.set("auth.header_name", name, a.APIKey)
	}
	return nil
}

// set puts a header in. Its errors name the key of the configuration, never the value.
func (t *target) set(key, name, value string) error {
	if !isToken(name) {
		return fmt.Errorf("%w: endpoint.%s: not a header name", llm.ErrConfig, key)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("%w: endpoint.%s: the value holds a control character", llm.ErrConfig, key)
	}
	if strings.EqualFold(name, "host") {
		t.host = value
		return nil
	}
	t.header.Set(name, value)
	return nil
}

func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// resolveURL joins the two halves: the scheme is https unless given, a path of the
// base is a prefix, and exactly one slash stands between it and the request path.
func resolveURL(base, requestPath string) (*url.URL, error) {
	if base == "" {
		return nil, fmt.Errorf("endpoint.base_url is missing")
	}
	if !strings.Contains(base, "://") {
		base = "https://" + base
	}
	prefix, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fmt.Errorf("endpoint.base_url is not a URL")
	case prefix.Scheme != "http" && prefix.Scheme != "https":
		return nil, fmt.Errorf("endpoint.base_url: scheme %q: only http and https are known", prefix.Scheme)
	case prefix.Hostname() == "":
		return nil, fmt.Errorf("endpoint.base_url has no host")
	case prefix.User != nil:
		return nil, fmt.Errorf("endpoint.base_url holds a user name: put the key under endpoint.auth")
	case prefix.RawQuery != "" || prefix.Fragment != "":
		return nil, fmt.Errorf("endpoint.base_url has a query or fragment: put a query into endpoint.request_path")
	}
	if port := prefix.Port(); port == defaultPort(prefix.Scheme) || port == "" {
		prefix.Host = strings.TrimSuffix(strings.TrimSuffix(prefix.Host, port), ":")
	}
	whole := prefix.Scheme + "://" + prefix.Host + strings.TrimRight(prefix.EscapedPath(), "/") + "/" + strings.TrimLeft(requestPath, "/")
	u, err := url.Parse(whole)
	if err != nil {
		return nil, fmt.Errorf("endpoint.request_path is not the path of a URL")
	}
	return u, nil
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}
