package origin

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Origin is the scheme, host and port of a URL (RFC 6454 section 4). Values are compared with ==. The zero Origin belongs to no URL.
type Origin struct {
	scheme, host string // lower case in ASCII letters; the host without brackets
	port         string // "" if the scheme has no default port and none is given
}

// Of returns the origin of a URL; false if it has none: no scheme, no host, or an invalid port. Default ports of http
// and https count as given. Hosts are compared as spelled, except for the case of ASCII letters: a final dot, an
// internationalized name that isn't in its ASCII form, a port with leading zeros and another notation of an IP address
// make another origin.
func Of(u *url.URL) (Origin, bool) {
	if u == nil || u.Scheme == "" || u.Opaque != "" || u.Hostname() == "" {
		return Origin{}, false
	}
	o := Origin{scheme: Lower(u.Scheme), host: Lower(u.Hostname()), port: u.Port()}
	if o.port == "" {
		o.port = defaultPort(o.scheme)
	} else if n, err := strconv.ParseUint(o.port, 10, 16); err != nil || n == 0 {
		return Origin{}, false
	}
	return o, true
}

// Parse returns the origin of a URL in text form.
func Parse(text string) (Origin, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return Origin{}, false
	}
	return Of(u)
}

// Same reports whether two URLs have the same origin. URLs without an origin never have the same.
func Same(a, b *url.URL) bool {
	x, ok := Of(a)
	y, known := Of(b)
	return ok && known && x == y
}

// Address returns host:port in the form that dialers take, in lower case.
func (o Origin) Address() string { return net.JoinHostPort(o.host, o.port) }

// String returns scheme://host[:port] without a default port, as browsers write it.
func (o Origin) String() string {
	if o == (Origin{}) {
		return ""
	}
	host := o.host
	if strings.Contains(host, ":") {
		host = "[" + strings.ReplaceAll(host, "%", "%25") + "]" // the zone of an IPv6 address (RFC 6874 section 2)
	}
	if o.port != defaultPort(o.scheme) {
		host += ":" + o.port
	}
	return o.scheme + "://" + host
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// Lower makes ASCII letters lower case. Unlike [strings.ToLower] it leaves others unchanged: the Kelvin sign and the
// dotted capital I would become ASCII letters, and one host another.
func Lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
