package authtest

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"drawbridge/openapi/origin"
)

// Limits on fetching a client ID metadata document; the draft recommends the size.
const (
	maxDocument  = 5 << 10
	documentTime = 2 * time.Second
)

// isDocument reports whether a client_id is the URL of a metadata document
// (draft-ietf-oauth-client-id-metadata-document section 2): https with a path, without dot
// segments, user and fragment. Here it may also be http on loopback.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(id, "# \"\\") || len(id) > maxRedirect {
		return false
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !origin.Loopback(u.Hostname())) {
		return false
	}
	segments := strings.Split(u.Path, "/")
	return len(u.Path) > 1 && !slices.Contains(segments, ".") && !slices.Contains(segments, "..")
}

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
func (s *Server) fetchClient(ctx context.Context, id string) (*client, *problem) {
	u, err := url.Parse(id)
	if err != nil {
		return nil, newProblem(invalidClient, "client_id '%s' is not a URL", id)
	}
	if !origin.Loopback(u.Hostname()) {
		if s.strangers {
			c := unknownClient(id)
			c.document = u.Host
			return c, nil
		}
		return nil, newProblem(invalidClient, "the metadata document '%s' is on another machine, where this server does not look", id)
	}
	text, err := s.fetchDocument(ctx, id)
	if err != nil {
		return nil, newProblem(invalidClient, "the metadata document '%s' can't be read: %v", id, err)
	}
	m, p := readRegistration(text)
	if p != nil {
		return nil, newProblem(invalidClient, "the metadata document '%s': %s", id, p.Description)
	}
	if m.ID != id {
		return nil, newProblem(invalidClient, "the metadata document '%s' is for client_id '%s'", id, m.ID)
	}
	if method := cmp.Or(m.AuthMethod, "none"); method != "none" {
		return nil, newProblem(invalidClient, "the metadata document '%s' asks for token_endpoint_auth_method '%s'; here it is 'none'", id, method)
	}
	c := m.client()
	c.document = u.Host
	return c, nil
}

func (s *Server) fetchDocument(ctx context.Context, id string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	r.Header.Set("Accept", "application/json")
	resp, err := s.documents.Do(r)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the URL, which the reader has
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("status " + resp.Status)
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, errors.New("it is not JSON")
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return nil, errors.New("it ends too early")
	}
	if len(text) > maxDocument {
		return nil, errors.New("it has more than 5 KiB")
	}
	return text, nil
}
