package origin

import "net/netip"

// Loopback reports whether a host, as [net/url.URL.Hostname] returns it, is this machine: localhost in any case, an
// address of 127.0.0.0/8, also mapped into IPv6, or ::1. Names below localhost, a final dot, addresses with a zone and
// other notations of addresses are not: resolvers disagree about them.
func Loopback(host string) bool {
	if Lower(host) == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Zone() == "" && a.Unmap().IsLoopback()
}
