package clientip

import (
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
)

// Resolver finds the address that a request comes from. The zero value trusts no proxy. It is safe for concurrent use.
type Resolver struct {
	trusted atomic.Pointer[[]netip.Prefix]
}

// Trust replaces the networks whose proxies are trusted.
func (c *Resolver) Trust(proxies []netip.Prefix) {
	var trusted []netip.Prefix
	for _, p := range proxies {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 { // addresses are compared in their shorter form
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		trusted = append(trusted, p)
	}
	c.trusted.Store(&trusted)
}

// Trusts reports whether an address belongs to a trusted proxy.
func (c *Resolver) Trusts(a netip.Addr) bool {
	for _, p := range c.prefixes() {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// PeerTrusted reports whether the peer of a request is a trusted proxy.
func (c *Resolver) PeerTrusted(r *http.Request) bool {
	if len(c.prefixes()) == 0 {
		return false
	}
	peer, ok := peerOf(r)
	return ok && c.Trusts(peer)
}

func (c *Resolver) prefixes() []netip.Prefix {
	if trusted := c.trusted.Load(); trusted != nil {
		return *trusted
	}
	return nil
}

// Address returns the peer's address or, if that is a trusted proxy, the right-most address in the headers that is not trusted;
// false if the peer has no address. Each proxy adds to the right, so a foreign address may have made up everything left of it.
// Where the trail ends in a value that isn't an address, the last proxy on it counts.
//
// A proxy that writes one of the two headers passes on the other one as its client made it up. So if both are there and
// do not agree, neither counts, and the client is known by the proxy.
func (c *Resolver) Address(r *http.Request) (netip.Addr, bool) {
	peer, ok := peerOf(r)
	if !ok || !c.Trusts(peer) {
		return peer, ok
	}
	return c.forwarded(r, peer), true
}

// Limited returns the address whose limits a request counts against; false for a peer on loopback that speaks for itself: a
// program that can connect from there could do worse, and a proxy there that is not trusted stands for all of its clients.
//
// A trusted proxy on loopback counts once a header says that it speaks for a client. If the headers disagree, the proxy
// is what counts: else a client would be spared for sending the header that the proxy does not write.
func (c *Resolver) Limited(r *http.Request) (netip.Addr, bool) {
	a, limited, _ := c.Classify(r)
	return a, limited
}

// Classify is [Resolver.Limited], and reports whether the peer forwards for others and is not trusted.
func (c *Resolver) Classify(r *http.Request) (a netip.Addr, limited, untrusted bool) {
	peer, ok := peerOf(r)
	if !ok {
		return peer, false, false
	}
	forwards := r.Header["X-Forwarded-For"] != nil || r.Header["Forwarded"] != nil
	if !c.Trusts(peer) {
		return peer, !peer.IsLoopback(), forwards
	}
	a = c.forwarded(r, peer)
	return a, forwards || !a.IsLoopback(), false
}

// forwarded returns the address that the headers of a request from a trusted proxy lead to.
func (c *Resolver) forwarded(r *http.Request, peer netip.Addr) netip.Addr {
	list, forwarded := r.Header["X-Forwarded-For"], r.Header["Forwarded"]
	byList := c.follow(peer, list, lastItem, func(item string) string { return item })
	byForwarded := c.follow(peer, forwarded, lastElement, forwardedFor)
	switch {
	case len(forwarded) == 0:
		return byList
	case len(list) == 0 || byList == byForwarded:
		return byForwarded
	}
	return peer
}

// peerOf returns the address at the other end of a request's connection; false if it has none, as on a Unix socket.
func peerOf(r *http.Request) (netip.Addr, bool) {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return a.Addr().Unmap().WithZone(""), err == nil
}

// follow goes through the elements of a header from right to left, as long as a trusted proxy wrote them. cut takes the last
// element off a line, and node returns the address that the element names.
func (c *Resolver) follow(hop netip.Addr, lines []string, cut func(string) (rest, element string, more bool), node func(string) string) netip.Addr {
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var element string
			rest, element, more = cut(rest)
			next, ok := parseNode(node(strings.Trim(element, " \t")))
			if !ok {
				return hop
			}
			if hop = next; !c.Trusts(hop) {
				return hop
			}
		}
	}
	return hop
}

// lastItem takes the last item off a list with commas.
func lastItem(s string) (rest, item string, more bool) {
	if i := strings.LastIndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

// lastElement takes the last element off a value of Forwarded, where commas in quotes don't part (RFC 7239 section 4). It
// reads from the right, so that a quote further left that is never closed swallows nothing.
func lastElement(s string) (rest, element string, more bool) {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && !escaped(s, i):
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return "", s, false
}

// escaped reports whether an odd number of backslashes stands before a character.
func escaped(s string, i int) bool {
	n := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
	return n%2 == 1
}

// forwardedFor returns the parameter "for" of an element of Forwarded; "" if there is none or more than one, or if the text is
// not an element.
func forwardedFor(element string) string {
	node, found := "", false
	for element != "" {
		name, value, ok := strings.Cut(element, "=")
		if !ok {
			return ""
		}
		if strings.HasPrefix(value, `"`) {
			end := 1
			for end < len(value) && (value[end] != '"' || escaped(value, end)) {
				end++
			}
			if end == len(value) {
				return ""
			}
			value, element = value[1:end], strings.TrimLeft(value[end+1:], " \t")
			if element, ok = strings.CutPrefix(element, ";"); !ok && element != "" {
				return ""
			}
		} else {
			value, element, _ = strings.Cut(value, ";")
		}
		element = strings.TrimLeft(element, " \t")
		if !strings.EqualFold(strings.Trim(name, " \t"), "for") {
			continue
		}
		if found {
			return ""
		}
		node, found = strings.TrimRight(value, " \t"), true
	}
	return node
}

// parseNode reads an address with or without a port (RFC 7239 section 6). It is false for "unknown", for the identifiers
// that proxies make up to hide an address, and for unspecified and multicast addresses, which no client has.
func parseNode(s string) (netip.Addr, bool) {
	host, port := s, ""
	if inside, ok := strings.CutPrefix(s, "["); ok {
		if host, port, ok = strings.Cut(inside, "]"); !ok || !strings.Contains(host, ":") {
			return netip.Addr{}, false
		}
	} else if strings.Count(s, ":") == 1 { // an IPv6 address without brackets has more, and no port
		host, port = s[:strings.IndexByte(s, ':')], s[strings.IndexByte(s, ':'):]
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() != "" || !isPort(port) {
		return netip.Addr{}, false
	}
	a = a.Unmap()
	return a, !a.IsUnspecified() && !a.IsMulticast()
}

// isPort reports whether s is empty, or a colon and a port in digits or as an identifier that hides it.
func isPort(s string) bool {
	if s == "" {
		return true
	}
	s, ok := strings.CutPrefix(s, ":")
	if name, hidden := strings.CutPrefix(s, "_"); hidden {
		return ok && name != ""
	}
	return ok && s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}
