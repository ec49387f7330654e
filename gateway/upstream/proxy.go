package upstream

import (
	"context"
	"errors"
	"net"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Proxy is the way out of a client: the proxies that its connections go through. Every connection is a tunnel, also that of a call
// without TLS: the proxy reads no request, and resolves no name unless it has to.
type Proxy struct {
	// HTTP and HTTPS are the proxies for URLs of these schemes; nil for direct connections.
	HTTP, HTTPS *ProxyServer
	// Bypass lists the hosts that are called directly, in the syntax of NO_PROXY. Loopback addresses and localhost always are.
	Bypass string
	// ResolvesNames makes the proxy resolve names. Then only names and literal addresses are checked.
	ResolvesNames bool
}

// encryptsPlain reports whether connections for http URLs are inside of TLS, with a proxy. p may be nil.
func (p *Proxy) encryptsPlain() bool { return p != nil && p.HTTP != nil && p.HTTP.Scheme == "https" }

// proxyRoute dials for the URLs of one scheme, through a proxy where that has to be.
type proxyRoute struct {
	scheme  string
	server  *ProxyServer
	names   bool // the proxy resolves names
	bypass  func(*url.URL) (*url.URL, error)
	policy  *dialPolicy
	direct  dialer
	toProxy dialer
	timeout time.Duration
}

// newProxyRoute returns the route for URLs of a scheme, which is direct without a proxy.
func newProxyRoute(p *Proxy, scheme string, policy *dialPolicy, direct dialer, timeout time.Duration) dialer {
	if p == nil {
		return direct
	}
	server := p.HTTP
	if scheme == "https" {
		server = p.HTTPS
	}
	if server == nil {
		return direct
	}
	// The placeholder is never called: it tells that a proxy is to be used, and no error can repeat a secret.
	const placeholder = "http://proxy.invalid"
	r := &proxyRoute{
		scheme: scheme, server: server, names: p.ResolvesNames, policy: policy, direct: direct, timeout: timeout,
		bypass: (&httpproxy.Config{HTTPProxy: placeholder, HTTPSProxy: placeholder, NoProxy: p.Bypass}).ProxyFunc(),
		// The operator has configured it, so that it may be private.
		toProxy: newDialPolicy([]string{server.Host}, nil, policy.allowed, timeout).dial,
	}
	return r.dial
}

// minAttempt is the least time for one of several addresses, as in [net.Dialer].
const minAttempt = 2 * time.Second

// dial connects to addr, "host:port". The proxy is asked only for addresses that the policy allows.
func (r *proxyRoute) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	through, err := r.bypass(&url.URL{Scheme: r.scheme, Host: addr})
	if err != nil {
		return nil, &dialError{kind: Connect, err: err}
	}
	if through == nil {
		return r.direct(ctx, network, addr)
	}
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	targets, err := r.targets(ctx, addr)
	if err != nil {
		return nil, err
	}
	var first error
	for i, target := range targets {
		conn, err := r.attempt(ctx, target, len(targets)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if failed := (*proxyError)(nil); ctx.Err() != nil || !errors.As(err, &failed) || !failed.next {
			break
		}
	}
	return nil, &dialError{kind: ProxyFailed, err: first}
}

// targets returns what the proxy may be asked for, each "host:port".
func (r *proxyRoute) targets(ctx context.Context, addr string) ([]string, error) {
	if r.names {
		named, err := r.policy.checkName(addr)
		if err != nil || named {
			return []string{addr}, err
		}
	}
	return r.policy.resolve(ctx, addr)
}

// attempt asks the proxy for one of several targets that are left, with its share of the time.
func (r *proxyRoute) attempt(ctx context.Context, target string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(time.Until(deadline)/time.Duration(left), minAttempt))
		defer cancel()
	}
	return r.server.open(ctx, r.toProxy, target)
}
