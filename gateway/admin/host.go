package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"drawbridge/openapi/origin"
)

// hostFilter rejects requests with an unexpected Host. It prevents DNS rebinding, by which a page
// in the operator's browser could read every response: the browser considers it same-origin, but
// sends its host name. A request without Host is not from a browser, and an IP address can't be
// rebound: the probes of Kubernetes use one.
type hostFilter struct {
	loopback bool            // of IP addresses, only loopback ones are accepted
	names    map[string]bool // host or host:port, in lower case
}

func newHostFilter(hosts []string, loopback bool) *hostFilter {
	g := &hostFilter{loopback: loopback, names: map[string]bool{}}
	for _, h := range hosts {
		g.names[strings.ToLower(h)] = true
	}
	return g
}

func (g *hostFilter) guard(next http.Handler) http.Handler {
	refusal := "the Host of this request is not served here: ask for the listener by its IP address, as localhost, or by a name in admin.allowed_hosts\n"
	if g.loopback {
		refusal = "the Host of this request is not served here: admin.listen is a loopback address, which is asked for as localhost, by its number, or by a name in admin.allowed_hosts\n"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "" && !g.accepts(strings.ToLower(r.Host)) {
			writeText(w, http.StatusForbidden, refusal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// accepts reports whether a value of Host is accepted. The port may be that of a tunnel. A name
// below localhost, a trailing dot and unusual spellings of addresses are names like any other.
func (g *hostFilter) accepts(value string) bool {
	if g.names[value] {
		return true
	}
	host, number := value, value
	if name, port, err := net.SplitHostPort(value); err == nil {
		host, number = strings.TrimSuffix(value, ":"+port), name
	} else if strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]") {
		number = value[1 : len(value)-1]
	}
	if g.names[host] || origin.Loopback(host) {
		return true
	}
	a, err := netip.ParseAddr(number)
	return err == nil && a.Zone() == "" && (!g.loopback || origin.Loopback(number))
}
