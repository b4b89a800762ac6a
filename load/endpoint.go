package load

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Endpoint is a WebSocket URL taken apart by the rule of §2.7. Its target may carry a
// token, so errors never quote it.
type Endpoint struct {
	Secure bool   // wss
	Host   string // without the brackets of an IPv6 address
	Port   uint16 // never 0
	Target string // path and query, always beginning with /
}

// ParseEndpoint reads `ws://` or `wss://` (in lower case), an authority without
// userinfo and an optional path and query. White space, control characters and a
// fragment are refused; the port is 1..65535, by default 80 or 443; an IPv6 address
// stands in brackets.
func ParseEndpoint(s string) (Endpoint, error) {
	rest, ok := strings.CutPrefix(s, "ws://")
	ep := Endpoint{Port: 80}
	if !ok {
		if rest, ok = strings.CutPrefix(s, "wss://"); !ok {
			return Endpoint{}, errors.New("must begin with ws:// or wss://")
		}
		ep = Endpoint{Secure: true, Port: 443}
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f || s[i] == '#' {
			return Endpoint{}, errors.New("must not contain white space, control characters or #")
		}
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, ep.Target = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(ep.Target, "/") {
		ep.Target = "/" + ep.Target
	}
	if err := ep.authority(authority); err != nil {
		return Endpoint{}, err
	}
	return ep, nil
}

func (e *Endpoint) authority(s string) error {
	switch {
	case s == "":
		return errors.New("must name a host")
	case strings.IndexByte(s, '@') >= 0:
		return errors.New("must not contain user information (@)")
	}
	host, port, hasPort := s, "", false
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return errors.New("has an IPv6 address without closing bracket")
		}
		addr, err := netip.ParseAddr(s[1:end])
		if err != nil || !addr.Is6() {
			return errors.New("has something else than an IPv6 address in brackets")
		}
		host = s[1:end]
		if port, hasPort = strings.CutPrefix(s[end+1:], ":"); !hasPort && port != "" {
			return errors.New("has text between the bracket and the port")
		}
	} else if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port, hasPort = s[:i], s[i+1:], true
	}
	switch {
	case host == "":
		return errors.New("must name a host")
	case !strings.HasPrefix(s, "[") && strings.ContainsAny(host, ":[]"):
		return errors.New("must put an IPv6 address in brackets")
	}
	e.Host = host
	if !hasPort {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return errors.New("must have a decimal port in 1..65535")
	}
	e.Port = uint16(n)
	return nil
}

// String is the URL; the port is left out where it is the scheme's own.
func (e Endpoint) String() string {
	scheme, own := "ws://", uint16(80)
	if e.Secure {
		scheme, own = "wss://", 443
	}
	host := e.Host
	if strings.IndexByte(host, ':') >= 0 {
		host = "[" + host + "]"
	}
	if e.Port != own {
		host += ":" + strconv.Itoa(int(e.Port))
	}
	return scheme + host + e.Target
}

// Route appends one component to the path and keeps the query, as remote tools are
// addressed (§2.8).
func (e Endpoint) Route(name string) Endpoint {
	path, query, has := strings.Cut(e.Target, "?")
	e.Target = strings.TrimSuffix(path, "/") + "/" + name
	if has {
		e.Target += "?" + query
	}
	return e
}
