package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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

// ProxyServer is one proxy. It prints without its password.
type ProxyServer struct {
	// Scheme is http, https or socks5.
	Scheme string
	// Host is the host, without its port. It may be private, but it is no more allowed as a service than without the proxy.
	Host string
	// Address is Host with the port.
	Address string
	// User and Password are sent to the proxy alone. Without User neither is.
	User, Password string
	// RootCAs are the certificate authorities of an https proxy; the system's if nil.
	RootCAs *x509.CertPool
}

// String returns the URL of the proxy without user and password, for the log.
func (s *ProxyServer) String() string { return s.Scheme + "://" + s.Address }

// Format implements [fmt.Formatter] so that no verb prints the password.
func (s *ProxyServer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// proxyRoute dials for the URLs of one scheme, through a proxy where that has to be.
type proxyRoute struct {
	scheme  string
	server  *ProxyServer
	names   bool // the proxy resolves names
	bypass  func(*url.URL) (*url.URL, error)
	policy  *dialPolicy
	direct  dialer
	toProxy dialer
	tls     *tls.Config // to the proxy; nil for http and socks5
	timeout time.Duration
}

// newProxyRoute returns how connections for URLs of a scheme are made; direct, if without a proxy.
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
	if server.Scheme == "https" {
		r.tls = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: server.RootCAs, ServerName: server.Host, NextProtos: []string{"http/1.1"}}
	}
	return r.dial
}

// minAttempt is the least time for one of several addresses, as in [net.Dialer].
const minAttempt = 2 * time.Second

// dial connects to addr, "host:port". What of the host's addresses the policy refuses, the proxy is not asked for.
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
	var conn net.Conn
	var err error
	if r.server.Scheme == "socks5" {
		conn, err = r.socks(ctx, target)
	} else {
		conn, err = r.connect(ctx, target)
	}
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// proxyError is a failure of a proxy, or one that it reports.
type proxyError struct {
	server *ProxyServer
	target string
	err    error
	next   bool // the failure is that of the target, so that another address may be tried
}

// Error returns the text for the log. It contains neither credentials nor text of the proxy.
func (e *proxyError) Error() string {
	return fmt.Sprintf("proxy %s: connection to %s: %v", e.server, e.target, e.err)
}

func (e *proxyError) Unwrap() error { return e.err }
