package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"drawbridge/gateway/origin"
)

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

// checkName checks a host that the proxy will resolve. named is false for a literal address, which is judged as always. Whoever
// resolves a name decides what it stands for: notations of addresses that only some resolvers know are refused.
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
