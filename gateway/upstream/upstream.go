package upstream

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// Options configure a [Client]. The zero value of each field is usable.
type Options struct {
	// Name is the configured name of the API; errors and spans carry it.
	Name string
	// BaseURL is the base URL that the operator configured; its host counts as
	// one of NamedHosts. Nil: none was configured.
	BaseURL *url.URL
	// NamedHosts are host names or IP literals, without ports, that the operator
	// wrote down (the host of the spec's URL, of allow_servers). They may stand
	// on private and loopback addresses; every other host must be on a public one.
	NamedHosts []string
	// AllowedAddresses are address ranges that any host may stand on. They are
	// the only way to reach a link-local or metadata address through a name.
	AllowedAddresses []netip.Prefix

	// Timeout is the time for a whole call, from Do to the last byte of the
	// body, unless the request's context has a deadline of its own. Default 30 s.
	Timeout time.Duration
	// Connect is the time for name resolution and the TCP handshake. Default 2 s.
	Connect time.Duration
	// TLSHandshake is the time for the TLS handshake. Default 2 s.
	TLSHandshake time.Duration
	// FirstByte is the time from the request's end to the answer's headers. Default 15 s.
	FirstByte time.Duration

	// MaxBytes is the size of the largest answer, decoded. Default 8 MiB.
	MaxBytes int64
	// MaxRatio is the largest ratio of decoded to encoded bytes, looked at after
	// 64 KiB. Default 200.
	MaxRatio int64
	// MaxIdle is the number of idle connections kept. Default 256.
	MaxIdle int
	// MaxConns is the number of connections to one host at the same time; calls
	// over it wait. Default 0: no limit.
	MaxConns int
	// UserAgent is sent where the request has none. Default "drawbridge".
	UserAgent string

	// RootCAs are the certificate authorities. Nil: the system's.
	RootCAs *x509.CertPool
	// Wrap puts the credential around the transport. Nil: none.
	Wrap func(http.RoundTripper) http.RoundTripper
	// TracerProvider makes spans and sends the trace context to the service. Nil: no tracing.
	TracerProvider trace.TracerProvider
}

// Client calls one API. It is safe for concurrent use.
type Client struct{}

// NewClient returns a client. It starts nothing and connects nowhere.
func NewClient(o Options) *Client { return &Client{} }

// Do sends one request and returns the answer's head; errors are of type
// [*Error]. It takes the request over: its header gets Accept-Encoding and
// User-Agent. Redirects are returned as they are. The body is decoded and
// capped, its reads fail with [*Error] too, and the caller must close it.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	return nil, &Error{Kind: Connect, Err: errors.New("not built yet")}
}

// Documents returns a client that loads spec documents.
func (c *Client) Documents() *http.Client { return &http.Client{} }

// Close closes the idle connections; calls in flight go on.
func (c *Client) Close() {}
