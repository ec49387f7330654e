package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"drawbridge/openapi/origin"
)

// dialPolicy dials, and checks addresses after name resolution (SSRF protection): whatever a name
// server answers, and however an address is written, the check sees the address that the kernel
// connects to (E1, E2).
type dialPolicy struct {
	hosts        map[string]trust // all other hosts are publicOnly
	allowed      []netip.Prefix
	only         []netip.Prefix // see Options.OnlyAddresses
	allowedExact []netip.Prefix // the ranges of allowed that are entirely blocked, or a single address
	blocked      []netip.Prefix // metadata services of clouds and link-local addresses
	nonPublic    []netip.Prefix // IPv4 addresses that are not public

	literal net.Dialer // for IP literals in the configuration: no check
	named   net.Dialer
	public  net.Dialer
}

// trust determines the addresses that a host may resolve to.
type trust uint8

const (
	publicOnly   trust = iota // public addresses
	documentHost              // all but metadata and link-local ones
	namedHost                 // the same, also under the name of a metadata service
	literalHost               // the address itself
)

func newDialPolicy(hosts, documents []string, allowed []netip.Prefix, connect time.Duration) *dialPolicy {
	g := &dialPolicy{
		hosts:   make(map[string]trust, len(hosts)+len(documents)),
		allowed: allowed,
		blocked: prefixes(
			"169.254.0.0/16", "fe80::/10", // link-local; metadata of most clouds
			"fd00:ec2::/32", "fd20:ce::254/128", // Amazon, Google
			"100.100.100.200/32", "168.63.129.16/32", // Alibaba, Azure's host agent
			"192.0.0.192/32", "fd00:c1::a9fe:a9fe/128", // Oracle
			"fd00:42::42/128"), // Scaleway
		nonPublic: prefixes( // IANA's registry of special-purpose addresses
			"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
			"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
			"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
	}
	for _, p := range allowed {
		if p.IsSingleIP() || inside(g.blocked, p) {
			g.allowedExact = append(g.allowedExact, p)
		}
	}
	for _, h := range documents {
		g.hosts[hostKey(h)] = documentHost
	}
	for _, h := range hosts {
		h = hostKey(h)
		g.hosts[h] = namedHost
		if _, err := netip.ParseAddr(h); err == nil {
			g.hosts[h] = literalHost
		}
	}
	g.literal = net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	g.named, g.public = g.literal, g.literal
	g.named.Control = g.control(namedHost)
	g.public.Control = g.control(publicOnly)
	return g
}

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		ps[i] = netip.MustParsePrefix(t)
	}
	return ps
}

// hostKey normalizes a host.
func hostKey(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String()
	}
	return host
}

// dial connects to addr, "host:port", if the host may resolve to its address.
func (g *dialPolicy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	_, _, trust, err := g.trustOf(addr)
	if err != nil {
		return nil, err
	}
	conn, err := g.dialer(trust).DialContext(ctx, network, addr)
	if err != nil {
		kind := Connect
		if refused := (*addressError)(nil); errors.As(err, &refused) {
			kind = Refused
		}
		return nil, &dialError{kind: kind, err: err}
	}
	return conn, nil
}

// trustOf returns the host and the port of addr, and which addresses the host may have.
func (g *dialPolicy) trustOf(addr string) (host, port string, of trust, err error) {
	host, port, err = net.SplitHostPort(addr)
	if err != nil {
		return "", "", 0, &dialError{kind: Connect, err: err}
	}
	key := hostKey(host)
	if of = g.hosts[key]; of < namedHost && isMetadataName(key) {
		return "", "", 0, &dialError{kind: Refused, err: fmt.Errorf("host %q serves a cloud's metadata and was not named", key)}
	}
	return host, port, of, nil
}

func (g *dialPolicy) dialer(of trust) *net.Dialer {
	switch of {
	case literalHost:
		return &g.literal
	case namedHost, documentHost:
		return &g.named
	case publicOnly:
	}
	return &g.public
}

// confine refuses all addresses outside of ranges, unless there are none.
func (g *dialPolicy) confine(only []netip.Prefix) {
	if only == nil {
		return
	}
	g.only = only
	g.literal.Control = g.control(literalHost)
}

// addressError reports an address that is not allowed.
type addressError struct {
	addr    netip.Addr
	private bool // it is not public, and not blocked
}

func (e *addressError) Error() string {
	if e.private {
		return fmt.Sprintf("address %s is not public; allow_addresses can permit it", e.addr)
	}
	return fmt.Sprintf("address %s is not allowed for this host", e.addr)
}

// control returns a [net.Dialer.Control] function, which is called with the address before
// connecting.
func (g *dialPolicy) control(of trust) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return &addressError{}
		}
		return g.judge(of, ap.Addr().WithZone("").Unmap())
	}
}

// judge returns an [*addressError] if a host of this trust may not have the address, which has no zone and is not mapped.
func (g *dialPolicy) judge(of trust, a netip.Addr) error {
	switch {
	case g.only != nil && !contains(g.only, a):
		return &addressError{addr: a}
	case of == literalHost, contains(g.allowedExact, a), contains(g.allowed, a) && !g.isBlocked(a):
		return nil
	case g.isBlocked(a):
		return &addressError{addr: a}
	case of == publicOnly && !g.isPublic(a):
		return &addressError{addr: a, private: true}
	}
	return nil
}

func contains(ps []netip.Prefix, a netip.Addr) bool {
	for _, p := range ps {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// inside reports whether one of ps contains all of p.
func inside(ps []netip.Prefix, p netip.Prefix) bool {
	for _, whole := range ps {
		if whole.Bits() <= p.Bits() && whole.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

// isBlocked reports whether a, or an IPv4 address embedded in it, is rejected even for hosts in the
// configuration.
func (g *dialPolicy) isBlocked(a netip.Addr) bool {
	if contains(g.blocked, a) {
		return true
	}
	for _, v4 := range embedded(a) {
		if contains(g.blocked, v4) {
			return true
		}
	}
	return false
}

// isPublic reports whether a is a public Internet address.
func (g *dialPolicy) isPublic(a netip.Addr) bool {
	if a.Is4() {
		return !contains(g.nonPublic, a)
	}
	if nat64(a) { // how IPv6-only networks reach IPv4: as public as its target
		for _, v4 := range embedded(a) {
			if !g.isPublic(v4) {
				return false
			}
		}
		return true
	}
	b := a.As16()
	switch {
	case b[0]&0xe0 != 0x20: // only 2000::/3 is global unicast
		return false
	case b[0] == 0x20 && b[1] == 0x01 && b[2] < 0x02: // 2001::/23: Teredo, ORCHID, benchmarks (RFC 2928)
		return false
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8: // documentation
		return false
	case b[0] == 0x20 && b[1] == 0x02: // 6to4, deprecated by RFC 7526
		return false
	case b[0] == 0x3f && b[1] == 0xff && b[2] < 0x10: // 3fff::/20, documentation (RFC 9637)
		return false
	}
	for _, v4 := range embedded(a) { // ISATAP on a global prefix
		if !g.isPublic(v4) {
			return false
		}
	}
	return true
}

// nat64 reports whether a has the well-known prefix of RFC 6052.
func nat64(a netip.Addr) bool {
	b := a.As16()
	return [12]byte(b[:12]) == [12]byte{0x00, 0x64, 0xff, 0x9b}
}

// embedded returns the IPv4 addresses to which packets for a may be forwarded: NAT64 (RFC 6052, RFC
// 8215), 6to4 (RFC 3056), Teredo (RFC 4380: server and client), ISATAP (RFC 5214), IPv4-compatible
// and IPv4-translated addresses. IPv4-mapped ones are unmapped before.
func embedded(a netip.Addr) []netip.Addr {
	if a.Is4() {
		return nil
	}
	b := a.As16()
	v4 := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case nat64(a):
		return []netip.Addr{v4(12)}
	case [6]byte(b[:6]) == [6]byte{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}:
		// The local prefix may have any length of RFC 6052 from 48 on; byte 8 is always skipped.
		return []netip.Addr{
			netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}),
			netip.AddrFrom4([4]byte{b[7], b[9], b[10], b[11]}),
			v4(9), v4(12),
		}
	case b[0] == 0x20 && b[1] == 0x02:
		return []netip.Addr{v4(2)}
	case [4]byte(b[:4]) == [4]byte{0x20, 0x01}:
		return []netip.Addr{v4(4), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	case [8]byte(b[:8]) == [8]byte{} && (b[8]|b[9]|b[10]|b[11] == 0 || b[8] == 0xff && b[9] == 0xff):
		return []netip.Addr{v4(12)}
	case (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe:
		return []netip.Addr{v4(12)}
	}
	return nil
}

// isMetadataName reports whether a cloud serves its metadata under the name.
func isMetadataName(host string) bool {
	switch host {
	case "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
		"metadata.tencentyun.com", "metadata.platformequinix.com":
		return true
	}
	return false
}

// maxTargets is the most addresses of a host that a proxy is asked for.
const maxTargets = 8

// resolve returns the addresses, each with the port of addr, "host:port", that the host may have, in the order in which they are to be
// tried. The proxy is asked for one of these, so that the address that was judged is the one that is called.
func (g *dialPolicy) resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, of, err := g.trustOf(addr)
	if err != nil {
		return nil, err
	}
	all, err := g.resolver(of).LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, &dialError{kind: Connect, err: err}
	}
	var targets []string
	var refused error
	for _, a := range all {
		if a.Zone() != "" {
			refused = fmt.Errorf("address %s has a zone, which has no meaning for a proxy", a)
			continue
		}
		a = a.Unmap()
		if err := g.judge(of, a); err != nil {
			refused = err
			continue
		}
		if target := net.JoinHostPort(a.String(), port); len(targets) < maxTargets {
			targets = append(targets, target)
		}
	}
	if len(targets) > 0 {
		return targets, nil
	}
	if refused == nil {
		return nil, &dialError{kind: Connect, err: fmt.Errorf("host %q has no address", host)}
	}
	return nil, &dialError{kind: Refused, err: refused}
}

func (g *dialPolicy) resolver(of trust) *net.Resolver {
	if r := g.dialer(of).Resolver; r != nil {
		return r
	}
	return net.DefaultResolver
}

// checkName checks a host that the proxy will resolve. named is false for a literal address, which is judged as always. Resolvers
// differ in the notations of addresses that they accept, so names in such a notation are refused.
func (g *dialPolicy) checkName(addr string) (named bool, err error) {
	host, port, of, err := g.trustOf(addr)
	if err != nil {
		return false, err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false, nil
	}
	refuse := func(why string) (bool, error) {
		return false, &dialError{kind: Refused, err: fmt.Errorf("host %q %s", host, why)}
	}
	name := strings.TrimSuffix(origin.Lower(host), ".")
	_, badPort := strconv.ParseUint(port, 10, 16)
	switch {
	case badPort != nil:
		return false, &dialError{kind: Connect, err: errors.New("bad port")}
	case name == "" || len(name) > 253 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "":
		return refuse("is not a host name")
	case endsInNumber(name):
		return refuse("is a notation of an address that resolvers disagree about")
	case of == publicOnly && (name == "localhost" || strings.HasSuffix(name, ".localhost") || !strings.Contains(name, ".")):
		return refuse("is not a public name, and was not named")
	}
	return true, nil
}

// endsInNumber reports whether a resolver may take a name for an IPv4 address (URL Standard, ends-in-a-number checker).
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits, hex := strings.CutPrefix(last, "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last == "" || strings.Trim(last, "0123456789") == ""
}
