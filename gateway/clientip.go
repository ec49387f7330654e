package gateway

import (
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"drawbridge/config"
)

// clients finds the address that a request comes from, for logs and for what one address may cost. It is never what
// decides who may call: whoever stands in a trusted network can claim to be anybody (H8). It is safe for
// concurrent use.
type clients struct {
	trusted atomic.Pointer[[]netip.Prefix]
}

// trust changes which proxies are trusted.
func (c *clients) trust(proxies []config.Network) {
	var trusted []netip.Prefix
	for _, n := range proxies {
		p := n.Prefix()
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 { // addresses are compared in their shorter form
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
		}
		trusted = append(trusted, p)
	}
	c.trusted.Store(&trusted)
}

// address returns the peer's address or, if that is a trusted proxy, the right-most one that the proxies did not trust;
// false if the peer has none. Each proxy adds to the right, so what stands left of a foreign address is that one's own
// tale. Where the trail ends in what is no address, the last proxy on it counts.
//
// A proxy that writes one of the two headers passes on the other one as its client made it up. So if both are there and
// do not agree, nothing in them counts, and the caller is known by the proxy.
func (c *clients) address(r *http.Request) (netip.Addr, bool) {
	peer, ok := peerOf(r)
	if !ok || !c.trusts(peer) {
		return peer, ok
	}
	return c.named(r, peer), true
}

// named returns the address that the headers of a request lead to, which came from a proxy that is trusted.
func (c *clients) named(r *http.Request, peer netip.Addr) netip.Addr {
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

// peerOf returns the address at the other end of a request's connection; false for what has none, such as a socket in the file system.
func peerOf(r *http.Request) (netip.Addr, bool) {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return a.Addr().Unmap().WithZone(""), err == nil
}

func (c *clients) prefixes() []netip.Prefix {
	if trusted := c.trusted.Load(); trusted != nil {
		return *trusted
	}
	return nil
}

func (c *clients) trusts(a netip.Addr) bool {
	for _, p := range c.prefixes() {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// follow goes through the elements of a header from right to left, as long as who wrote them is trusted. cut takes the last
// element off a line, and node returns where that element says that the request came from.
func (c *clients) follow(hop netip.Addr, lines []string, cut func(string) (rest, element string, more bool), node func(string) string) netip.Addr {
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var element string
			rest, element, more = cut(rest)
			next, ok := parseNode(node(strings.Trim(element, " \t")))
			if !ok {
				return hop
			}
			if hop = next; !c.trusts(hop) {
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
// reads from the right: a quote that somebody opened and did not close, further left, swallows nothing.
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

// escaped tells whether an odd number of backslashes stands before a character.
func escaped(s string, i int) bool {
	n := len(s[:i]) - len(strings.TrimRight(s[:i], `\`))
	return n%2 == 1
}

// forwardedFor returns the parameter "for" of an element of Forwarded, "" if there is none, or another one, or what is no
// element at all.
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
// that proxies make up to hide an address, and for what is no address of a caller.
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

// isPort tells whether s is nothing, or a colon and a port in digits or as an identifier that hides it.
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
