package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

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

// dialProxy connects to a proxy.
type dialProxy = func(ctx context.Context, network, addr string) (net.Conn, error)

// maxProxyHead is the most bytes of the head of a proxy's answer.
const maxProxyHead = 64 << 10

// open opens a tunnel to target, "host:port". Its errors are [*proxyError].
func (s *ProxyServer) open(ctx context.Context, dial dialProxy, target string) (net.Conn, error) {
	if s.Scheme == "socks5" {
		return s.socks(ctx, dial, target)
	}
	return s.connect(ctx, dial, target)
}

// connect opens a tunnel through an HTTP proxy (RFC 9110 section 9.3.6).
func (s *ProxyServer) connect(ctx context.Context, dial dialProxy, target string) (net.Conn, error) {
	conn, err := dial(ctx, "tcp", s.Address)
	if err != nil {
		return nil, s.failed(target, fmt.Errorf("the proxy can't be reached: %w", err))
	}
	if s.Scheme == "https" {
		config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.RootCAs, ServerName: s.Host, NextProtos: []string{"http/1.1"}}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, s.failed(target, fmt.Errorf("TLS with the proxy: %w", tlsAdvice(err, config)))
		}
		conn = secure
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	status, err := s.ask(conn, target)
	if !stop() && err == nil { // the deadline is set, or about to be
		err = context.Cause(ctx)
	}
	if err == nil && status/100 == 2 {
		return conn, nil
	}
	conn.Close()
	if ctx.Err() != nil {
		err = fmt.Errorf("the proxy does not answer: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, s.failed(target, err)
	}
	return nil, &proxyError{server: s, target: target, err: statusError(status), next: status/100 == 5}
}

// ask sends the request for a tunnel and reads the head of the answer.
func (s *ProxyServer) ask(conn net.Conn, target string) (status int, err error) {
	header := http.Header{"User-Agent": {"drawbridge"}}
	if s.User != "" {
		header["Proxy-Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(s.User+":"+s.Password))}
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: header}
	if err := req.Write(conn); err != nil {
		return 0, fmt.Errorf("the proxy ends the connection: %w", err)
	}
	// Nothing may be read that belongs to the tunnel: in there this side speaks first.
	br := bufio.NewReader(io.LimitReader(conn, maxProxyHead))
	for {
		resp, err := http.ReadResponse(br, req) //nolint:bodyclose // a body is not read, and closing it would be reading it
		switch {
		case err != nil:
			return 0, fmt.Errorf("the proxy does not answer with HTTP: %w", err)
		case resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue
		case resp.StatusCode/100 == 2 && br.Buffered() > 0:
			return 0, errors.New("the proxy sends data before anything was sent through the tunnel")
		}
		return resp.StatusCode, nil
	}
}

// statusError describes the status with which a proxy refuses a tunnel. The proxy's own words are not repeated.
func statusError(status int) error {
	hint := ""
	switch status {
	case http.StatusProxyAuthRequired, http.StatusUnauthorized: // the latter from tinyproxy
		hint = ": it does not accept the user and password, or needs some"
	case http.StatusForbidden, http.StatusMethodNotAllowed:
		hint = ": it may not allow CONNECT to this address or port"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		hint = ": it can't reach the service"
	}
	return fmt.Errorf("the proxy answers %d %s%s", status, http.StatusText(status), hint)
}

// socks opens a tunnel through a SOCKS5 proxy (RFC 1928, RFC 1929).
func (s *ProxyServer) socks(ctx context.Context, dial dialProxy, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if s.User != "" {
		auth = &proxy.Auth{User: s.User, Password: s.Password}
	}
	raw := &rawDialer{dial: dial}
	through, err := proxy.SOCKS5("tcp", s.Address, auth, raw)
	if err != nil {
		return nil, s.failed(target, err)
	}
	contextual, ok := through.(proxy.ContextDialer)
	if !ok {
		return nil, s.failed(target, errors.New("no context"))
	}
	_, err = contextual.DialContext(ctx, "tcp", target)
	switch {
	case err == nil:
		return raw.conn, nil // the wrapper hides the socket, which tells whether an idle connection is alive
	case raw.conn == nil:
		return nil, s.failed(target, fmt.Errorf("the proxy can't be reached: %w", err))
	}
	raw.conn.Close()
	return nil, &proxyError{server: s, target: target, err: err, next: isSOCKSReply(err)}
}

// isSOCKSReply reports whether the proxy has tried to connect, by the text of an error that has no type.
func isSOCKSReply(err error) bool { return strings.Contains(err.Error(), "unknown error ") }

// rawDialer keeps the connection to the proxy.
type rawDialer struct {
	dial dialProxy
	conn net.Conn
}

// Dial implements [proxy.Dialer].
func (d *rawDialer) Dial(network, addr string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, addr)
}

// DialContext implements [proxy.ContextDialer].
func (d *rawDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, addr)
	if err == nil {
		d.conn = conn
	}
	return conn, err
}

func (s *ProxyServer) failed(target string, err error) error {
	return &proxyError{server: s, target: target, err: err}
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
