package admin

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// local lets only those requests through whose Host is this machine's own name for itself. A page in the operator's
// browser whose name was made to lead here (DNS rebinding) is of the same origin to the browser, so it could read every
// answer; but it can't hide the name that it goes by. A request without a Host is not a browser's.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "" && !isLoopback(r.Host) {
			writeText(w, http.StatusForbidden, "the Host of this request is not served here: admin.listen is a loopback address, which is asked for as localhost or by its number\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback tells whether a value of Host is localhost or a loopback address, whatever the port: it may be that of a
// tunnel. A name below localhost, a trailing dot and odd spellings of addresses are not.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == "" && a.IsLoopback()
}
