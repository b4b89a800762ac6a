package wire

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// URL is a WebSocket endpoint (worker-data.md §2.7, tools.md §5.4). Its query may hold a
// token: only Redacted is fit for a log.
type URL struct {
	Secure bool
	Host   string // without brackets
	Port   int
	Target string // path and query; begins with /
}

// Scheme prefixes, case sensitive.
const (
	plainPrefix  = "ws://"
	securePrefix = "wss://"
)

// ParseURL reads an endpoint. An IPv6 address stands in brackets. Errors never quote the
// text.
func ParseURL(text string) (URL, error) {
	var u URL
	rest, ok := strings.CutPrefix(text, plainPrefix)
	u.Port = 80
	if !ok {
		rest, ok = strings.CutPrefix(text, securePrefix)
		u.Secure, u.Port = true, 443
	}
	if !ok {
		return URL{}, errors.New("must start with ws:// or wss://")
	}
	if strings.ContainsAny(text, " \t\r\n#") {
		return URL{}, errors.New("white space and # are not allowed")
	}
	authority := rest
	u.Target = "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, u.Target = rest[:i], rest[i:]
	}
	if u.Target[0] == '?' {
		u.Target = "/" + u.Target
	}
	if err := u.readAuthority(authority); err != nil {
		return URL{}, err
	}
	if _, err := url.Parse(u.String()); err != nil {
		return URL{}, errors.New("not a valid URL")
	}
	return u, nil
}

func (u *URL) readAuthority(s string) error {
	if s == "" {
		return errors.New("host is missing")
	}
	if strings.Contains(s, "@") {
		return errors.New("user information (@) is not allowed")
	}
	host, port, hasPort := s, "", false
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port, hasPort = s[:i], s[i+1:], true
	}
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return errors.New("port must be a number from 1 to 65535")
		}
		u.Port = int(n)
	}
	switch {
	case host == "":
		return errors.New("host is missing")
	case host[0] == '[':
		inner, ok := strings.CutSuffix(host[1:], "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return errors.New("no IPv6 address in the brackets")
		}
		host = inner
	case strings.ContainsAny(host, ":[]"):
		return errors.New("an IPv6 address needs brackets")
	}
	u.Host = host
	return nil
}

// Authority is host and port as in a Host header: the scheme's own port is left out.
func (u URL) Authority() string {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Secure && u.Port == 443 || !u.Secure && u.Port == 80 {
		return host
	}
	return host + ":" + strconv.Itoa(u.Port)
}

// String is the whole URL, query included: a secret.
func (u URL) String() string { return u.prefix() + u.Authority() + u.Target }

// Redacted is the URL without its query.
func (u URL) Redacted() string {
	path, _, _ := strings.Cut(u.Target, "?")
	return u.prefix() + u.Authority() + path
}

// WithRoute appends /route to the path; trailing slashes of the path are trimmed and the
// query is kept.
func (u URL) WithRoute(route string) URL {
	path, query, hasQuery := strings.Cut(u.Target, "?")
	u.Target = strings.TrimRight(path, "/") + "/" + route
	if hasQuery {
		u.Target += "?" + query
	}
	return u
}

func (u URL) prefix() string {
	if u.Secure {
		return securePrefix
	}
	return plainPrefix
}

// Address is host and port as net.Dial wants them.
func (u URL) Address() string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }
