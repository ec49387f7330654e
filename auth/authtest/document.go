package authtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/origin"
)

// Limits on fetching a client ID metadata document; the draft recommends the size.
const (
	maxDocument  = 5 << 10
	documentTime = 2 * time.Second
)

// newDocumentClient returns a client that reaches this machine only, uses no proxy, and follows no
// redirects.
func newDocumentClient(dial func(context.Context, string, string) (net.Conn, error), roots *x509.CertPool) *http.Client {
	if dial == nil {
		d := &net.Dialer{Timeout: documentTime, Control: loopbackOnly}
		dial = d.DialContext
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       documentTime,
	}
}

// loopbackOnly is a [net.Dialer.ControlContext] hook that rejects all addresses but loopback, after
// name resolution.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	if a, err := netip.ParseAddrPort(address); err != nil || !a.Addr().Unmap().IsLoopback() {
		return errors.New("not a loopback address")
	}
	return nil
}

// fetchClient fetches the metadata document at a client_id.
func (s *Server) fetchClient(ctx context.Context, id string) (*client, *oauthserver.Error) {
	u, err := url.Parse(id)
	if err != nil {
		return nil, oauthserver.NewError(oauthserver.InvalidClient, "client_id '%s' is not a URL", id)
	}
	if !origin.Loopback(u.Hostname()) {
		if s.strangers {
			c := unknownClient(id)
			c.document = u.Host
			return c, nil
		}
		return nil, oauthserver.NewError(oauthserver.InvalidClient, "the metadata document '%s' is on another machine, where this server does not look", id)
	}
	m, p := oauthserver.FetchClientMetadata(ctx, s.documents, id, maxDocument)
	if p != nil && p.Cause != nil { // here the reader is the developer of the client
		return nil, oauthserver.NewError(p.Code, "%s: %v", p.Description, p.Cause)
	}
	if p != nil {
		return nil, p
	}
	c := clientOf(m)
	c.document = u.Host
	return c, nil
}
