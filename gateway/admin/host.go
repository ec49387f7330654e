package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"drawbridge/gateway/origin"
)

// gate lets only those requests through whose Host is one that the listener goes by. A page in the operator's browser whose
// name was made to lead here (DNS rebinding) is of the same origin to the browser, so it could read every answer; but it
// can't hide the name that it goes by. A request without a Host is not a browser's, and an IP address is nobody's to
// rebind: that is what probes of Kubernetes ask for.
type gate struct {
	loopback bool            // of IP addresses, only loopback ones
	names    map[string]bool // host or host:port, in lower case
}

func newGate(hosts []string, loopback bool) *gate {
	g := &gate{loopback: loopback, names: map[string]bool{}}
	for _, h := range hosts {
		g.names[strings.ToLower(h)] = true
	}
	return g
}

func (g *gate) guard(next http.Handler) http.Handler {
	refusal := "the Host of this request is not served here: ask for the listener by its IP address, as localhost, or by a name in admin.allowed_hosts\n"
	if g.loopback {
		refusal = "the Host of this request is not served here: admin.listen is a loopback address, which is asked for as localhost, by its number, or by a name in admin.allowed_hosts\n"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "" && !g.serves(strings.ToLower(r.Host)) {
			writeText(w, http.StatusForbidden, refusal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serves tells whether a value of Host is let in. The port may be that of a tunnel. A name below localhost, a trailing
// dot and odd spellings of addresses are names like any other.
func (g *gate) serves(value string) bool {
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
