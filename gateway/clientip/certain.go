package clientip

import (
	"net/http"
	"net/netip"
)

// forwardingHeaders are headers by which a request shows that a proxy has passed it on.
var forwardingHeaders = []string{"X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via", "Cf-Connecting-Ip", "True-Client-Ip"}

// sharedNetwork is the address space of carrier-grade NAT (RFC 6598).
var sharedNetwork = netip.MustParsePrefix("100.64.0.0/10")

// Certain is [Resolver.Address], and reports whether other clients certainly have other addresses: it is a public address that a
// trusted proxy names, or that of a peer that shows no sign of a proxy. Proxies and networks of containers that rewrite
// addresses have private ones.
func (c *Resolver) Certain(r *http.Request) (a netip.Addr, certain bool) {
	a, ok := c.Address(r)
	if !ok || !a.IsGlobalUnicast() || a.IsPrivate() || sharedNetwork.Contains(a) {
		return a, false
	}
	peer, _ := peerOf(r)
	if c.Trusts(peer) {
		return a, a != peer
	}
	for _, name := range forwardingHeaders {
		if r.Header[name] != nil {
			return a, false
		}
	}
	return a, true
}

// Attributed is [Resolver.Address], but false for a peer with a private address, or on loopback, that forwards for others and is not
// trusted: one client behind it would use up the limit that all of them share.
func (c *Resolver) Attributed(r *http.Request) (netip.Addr, bool) {
	a, _, untrusted := c.Classify(r)
	if untrusted && (a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast()) {
		return netip.Addr{}, false
	}
	return c.Address(r)
}
