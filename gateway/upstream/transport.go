package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"syscall"
	"time"
)

// dialer connects to addr, "host:port".
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialers are those for http and https URLs. They differ with a proxy.
type dialers struct{ plain, secure dialer }

// newTransport returns the connection pool of one API. It uses no proxies from the environment
// (E5): the dialers know those that are configured. It does not decompress (P1).
func newTransport(o Options, dial dialers, protocols *protocols) *http.Transport {
	config := &tls.Config{
		MinVersion: max(tls.VersionTLS12, o.MinTLS), // E6
		RootCAs:    o.RootCAs,
		NextProtos: []string{"h2", "http/1.1"},
	}
	ping := cmp.Or(o.ping, 15*time.Second)
	return &http.Transport{
		DialContext: recovering(timed(dial.plain)),
		// Custom, so that its errors can be distinguished from all others.
		DialTLSContext: recovering(func(ctx context.Context, network, addr string) (net.Conn, error) {
			own := config
			if o.TLS != nil {
				var err error
				if own, err = o.TLS(config, addr); err != nil {
					return nil, &dialError{kind: Credential, err: err}
				}
			}
			if o.ServerName != "" && o.isService(addr) {
				own = own.Clone()
				own.ServerName = o.ServerName
			}
			return dialTLS(ctx, dial.secure, own, protocols, o.TLSHandshake, network, addr)
		}),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           0, // the limit per host suffices: there are few hosts
		MaxIdleConnsPerHost:    cmp.Or(o.MaxIdle, 256),
		IdleConnTimeout:        maxRest,
		ResponseHeaderTimeout:  o.FirstByte,
		MaxResponseHeaderBytes: maxHeaderBytes,
		HTTP2: &http.HTTP2Config{ // silent connections are pinged (L7)
			SendPingTimeout: ping,
			PingTimeout:     ping / 3,
		},
	}
}

// timed wraps the connections of a dialer.
func timed(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &timedConn{Conn: conn, limit: maxRest}, nil
	}
}

// recovering converts a panic to an error: net/http dials in goroutines of its own, where it would
// end the process.
func recovering(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
		defer func() {
			if v := recover(); v != nil {
				conn, err = nil, &dialError{kind: Connect, err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
			}
		}()
		return dial(ctx, network, addr)
	}
}

func dialTLS(ctx context.Context, dial dialer, config *tls.Config, spoken *protocols, limit time.Duration, network, addr string) (net.Conn, error) {
	conn, err := timed(dial)(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		conn.Close()
		return nil, &dialError{kind: Connect, err: err}
	}
	config = config.Clone()
	config.ServerName = cmp.Or(config.ServerName, host)
	secure := tls.Client(conn, config)
	cancel := func() {}
	if limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &dialError{kind: handshakeKind(err), err: tlsAdvice(err, config)}
	}
	spoken.observe(secure)
	return secure, nil
}

// handshakeKind distinguishes a service with a wrong certificate or without TLS from one that does
// not respond or hangs up, such as a load balancer without backends, which counts as unreachable.
func handshakeKind(err error) Kind {
	for _, unreachable := range []error{context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, unreachable) {
			return Connect
		}
	}
	return TLS
}

// dialError is a failure before the request was sent.
type dialError struct {
	kind Kind
	err  error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// isUnsent reports whether no connection came about for a request.
func isUnsent(err error) bool {
	var dial *dialError
	return errors.As(err, &dial)
}
