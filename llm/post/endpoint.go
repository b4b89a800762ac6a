package post

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
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
		return target{}, err
	}
	t := target{url: u, header: http.Header{}}
	t.header.Set("Accept", "text/event-stream")
	t.header.Set("Content-Type", "application/json")
	if err := t.set("/user_agent", "User-Agent", e.UserAgent); err != nil {
		return target{}, err
	}
	if e.Auth.APIKey != "" {
		if err := t.authorize(e.Auth); err != nil {
			return target{}, err
		}
	}
	for name, value := range e.ExtraHeaders {
		if err := t.set("/extra_headers/"+name, name, value); err != nil {
			return target{}, err
		}
	}
	return t, nil
}

func (t *target) authorize(a llm.Auth) error {
	switch a.Scheme {
	case llm.AuthBearer, "":
		return t.set("/auth/api_key", "Authorization", "Bearer "+a.APIKey)
	case llm.AuthCustom:
		name := a.HeaderName
		if name == "" {
			name = "x-api-key"
		}
		return t.set("/auth/header_name", name, a.APIKey)
	}
	return nil
}

// set puts a header in. Its errors name the key of the configuration, never the value.
func (t *target) set(key, name, value string) error {
	if !isToken(name) {
		return fault(key, "is not the name of a header")
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fault(key, "holds a control character")
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

// fault is what is wrong with a value below endpoint.
func fault(path, reason string) error {
	return &llm.ConfigError{Path: "/endpoint" + path, Err: errors.New(reason)}
}

// resolveURL joins the two halves: the scheme is https unless given, a path of the
// base is a prefix, and exactly one slash stands between it and the request path.
func resolveURL(base, requestPath string) (*url.URL, error) {
	if base == "" {
		return nil, fault("/base_url", "is missing")
	}
	if !strings.Contains(base, "://") {
		base = "https://" + base
	}
	prefix, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, fault("/base_url", "is not a URL")
	case prefix.Scheme != "http" && prefix.Scheme != "https":
		return nil, fault("/base_url", "must begin with http:// or https://")
	case prefix.Hostname() == "":
		return nil, fault("/base_url", "must name a host")
	case prefix.User != nil:
		return nil, fault("/base_url", "must not contain user information (@): put the key under auth")
	case prefix.RawQuery != "" || prefix.Fragment != "":
		return nil, fault("/base_url", "must not have a query or fragment: put a query into request_path")
	case !validPort(prefix.Port()):
		return nil, fault("/base_url", "must have a port in 1..65535")
	}
	if port := prefix.Port(); port == defaultPort(prefix.Scheme) || port == "" {
		prefix.Host = strings.TrimSuffix(strings.TrimSuffix(prefix.Host, port), ":")
	}
	whole := prefix.Scheme + "://" + prefix.Host + strings.TrimRight(prefix.EscapedPath(), "/") + "/" + strings.TrimLeft(requestPath, "/")
	u, err := url.Parse(whole)
	if err != nil {
		return nil, fault("/request_path", "is not the path of a URL")
	}
	return u, nil
}

// validPort is the rule of WebSocket URLs, too. None is the scheme's own.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}
