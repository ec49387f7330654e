package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
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

// connect opens a tunnel through an HTTP proxy (RFC 9110 section 9.3.6).
func (r *proxyRoute) connect(ctx context.Context, target string) (net.Conn, error) {
	conn, err := r.toProxy(ctx, "tcp", r.server.Address)
	if err != nil {
		return nil, r.failed(target, fmt.Errorf("the proxy can't be reached: %w", err))
	}
	if r.tls != nil {
		secure := tls.Client(conn, r.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, r.failed(target, fmt.Errorf("TLS with the proxy: %w", err))
		}
		conn = secure
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	status, err := r.ask(conn, target)
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
		return nil, r.failed(target, err)
	}
	return nil, &proxyError{server: r.server, target: target, err: statusError(status), next: status/100 == 5}
}

// ask sends the request for a tunnel and reads the head of the answer.
func (r *proxyRoute) ask(conn net.Conn, target string) (status int, err error) {
	header := http.Header{"User-Agent": {"drawbridge"}}
	if r.server.User != "" {
		header["Proxy-Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(r.server.User+":"+r.server.Password))}
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: header}
	if err := req.Write(conn); err != nil {
		return 0, fmt.Errorf("the proxy ends the connection: %w", err)
	}
	// Nothing may be read that belongs to the tunnel: in there this side speaks first.
	br := bufio.NewReader(io.LimitReader(conn, maxHeaderBytes))
	for {
		resp, err := http.ReadResponse(br, req)
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
func (r *proxyRoute) socks(ctx context.Context, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if r.server.User != "" {
		auth = &proxy.Auth{User: r.server.User, Password: r.server.Password}
	}
	raw := &rawDialer{dial: r.toProxy}
	through, err := proxy.SOCKS5("tcp", r.server.Address, auth, raw)
	if err != nil {
		return nil, r.failed(target, err)
	}
	contextual, ok := through.(proxy.ContextDialer)
	if !ok {
		return nil, r.failed(target, errors.New("no context"))
	}
	_, err = contextual.DialContext(ctx, "tcp", target)
	switch {
	case err == nil:
		return raw.conn, nil // the wrapper hides the socket, which tells whether an idle connection is alive
	case raw.conn == nil:
		return nil, r.failed(target, fmt.Errorf("the proxy can't be reached: %w", err))
	}
	raw.conn.Close()
	return nil, &proxyError{server: r.server, target: target, err: err, next: isSOCKSReply(err)}
}

// isSOCKSReply reports whether the proxy has tried to connect, by the text of an error that has no type.
func isSOCKSReply(err error) bool { return strings.Contains(err.Error(), "unknown error ") }

// rawDialer keeps the connection to the proxy.
type rawDialer struct {
	dial dialer
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

func (r *proxyRoute) failed(target string, err error) error {
	return &proxyError{server: r.server, target: target, err: err}
}
