package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/upstream/balance"
	"drawbridge/openapi/origin"
)

// Options configure a [Client]. Times and sizes have no defaults here: zero stands for no limit.
type Options struct {
	// Name is the configured name of the API, used in errors and spans.
	Name string
	// BaseURL is the configured base URL; its host counts as one of NamedHosts. It may be nil.
	BaseURL *url.URL
	// Instances returns the addresses, host:port, that requests for the host of BaseURL go to, in turn; they need not be
	// NamedHosts. nil if the host of BaseURL is itself the service. It is called for each request.
	Instances func() []string
	// Having returns those of Instances that have the operation of [WithOperation]; none if all do. It may be nil.
	Having func(operation string) []string
	// Socket is the path of a Unix domain socket that all requests go to, instead of the hosts of their URLs; "" if there is none.
	Socket string
	// NamedHosts are host names or IP literals, without ports, from the configuration (the host of
	// the spec's URL, those of allow_servers). They may resolve to private and loopback addresses;
	// every other host must have a public address (E1).
	NamedHosts []string
	// DocumentHosts are the hosts of a document's servers, as far as requirement S7 allows them.
	// They may resolve to private addresses, but never to link-local ones or those of a cloud's
	// metadata service, in any spelling.
	DocumentHosts []string
	// AllowedAddresses are address ranges that any host may resolve to. For a host that is not an
	// IP literal, they are the only way to a link-local or metadata address, and only with a range
	// that contains nothing else.
	AllowedAddresses []netip.Prefix
	// OnlyAddresses are the ranges that contain every address that is connected to, that of an IP literal too. nil means no
	// such bound.
	OnlyAddresses []netip.Prefix

	// Timeout is the time limit of a whole call, from Do to the last byte of the body. It applies
	// only if the request's context has no deadline, so that an operation may have its own. 0 means
	// no limit.
	Timeout time.Duration
	// Connect is the timeout of name resolution and the TCP handshake. 0 means none.
	Connect time.Duration
	// TLSHandshake is the timeout of the TLS handshake. 0 means none.
	TLSHandshake time.Duration
	// FirstByte is the timeout from the end of the request to the response header, except for calls
	// with [NoHeaderTimeout]. 0 means none.
	FirstByte time.Duration

	// MaxBytes is the maximum size of a response, decoded. 0 means no limit.
	MaxBytes int64
	// MaxRatio is the maximum ratio of decoded to encoded bytes, checked once 64 KiB are decoded.
	// 0 means no limit.
	MaxRatio int64
	// MaxIdle is the maximum number of idle connections per host. The default is 256.
	MaxIdle int
	// Bulkhead limits concurrent calls.
	Bulkhead Bulkhead
	// Breaker configures the circuit breaker.
	Breaker Breaker
	// Retries limits retries.
	Retries Retries
	// OnStateChange is called when the breaker of a host ("" for hosts beyond the maximum) changes
	// its state. It must return soon, and must not call the client. It may be nil.
	OnStateChange func(host string, from, to State)
	// OnEject is called when an instance of the service gets no requests for a while because too many
	// in a row failed. It must return soon, and must not call the client. It may be nil.
	OnEject func(instance string, pause time.Duration)
	// OnUnknownCoding is called for each response whose Content-Encoding contains an unknown word,
	// such as UTF-8, which is ignored. It may be nil.
	OnUnknownCoding func()
	// OnPanic is called for a panic recovered in a background goroutine. It may be nil.
	OnPanic func(what string, v any)
	// ConnectionAge is the maximum age of a connection at the start of a call. 0 means no limit.
	ConnectionAge time.Duration
	// UserAgent is sent unless the request has one. The default is "drawbridge".
	UserAgent string

	// Proxy is the way out of connections; nil for direct ones.
	Proxy *Proxy
	// RootCAs are the certificate authorities; the system's if nil.
	RootCAs *x509.CertPool
	// ServerName is the name that the certificate of Service, or of an instance, must have, and that is sent to it (SNI), instead
	// of the host of the URL; "" for that host.
	ServerName string
	// Service is the URL of the server that ServerName is for.
	Service *url.URL
	// MinTLS is the lowest version of TLS, of those of crypto/tls; 0 stands for 1.2.
	MinTLS uint16
	// TLS returns the configuration for one connection to addr, host and port: base or a modified
	// copy. Its errors have the kind Credential, and must not contain secrets. If nil, base is
	// used.
	TLS func(base *tls.Config, addr string) (*tls.Config, error)
	// Wrap adds the credential to a transport; it is called for two transports. The errors of the
	// wrapper must not contain secrets. It may be nil.
	Wrap func(http.RoundTripper) http.RoundTripper
	// TracerProvider creates a span for each call and propagates the trace context, but never
	// baggage, to the service (O13). If nil, there are no spans.
	TracerProvider trace.TracerProvider

	ping time.Duration // for tests: the idle time after which an HTTP/2 connection is pinged; default 15 s
	dial dialer        // for tests: replaces the dialer with SSRF protection
}

// noSize stands for no limit on the bytes of a response; sums with it don't overflow.
const noSize = 1 << 62

// maxHeaderBytes and maxHeaderLines limit the head of a response (P1).
const (
	maxHeaderBytes = 64 << 10
	maxHeaderLines = 100
)

// Client calls one API. It is safe for concurrent use.
type Client struct {
	name            string
	timeout         time.Duration
	limits          limits
	bulkhead        *bulkhead // nil if concurrency is unlimited
	health          *health   // nil without circuit breaker
	allErrors       bool      // Breaker.AllErrors
	retries         *retrier  // nil without retries
	dialPolicy      *dialPolicy
	pool            *pool
	chain           http.RoundTripper // tracing, then credential, then pool
	noTimeoutChain  http.RoundTripper // the same for calls with NoHeaderTimeout
	onUnknownCoding func()            // may be nil
	traced          bool              // both propagate the trace context
	decoders        decoderPool

	socket   bool             // all requests go to a Unix domain socket
	baseHost string           // Host of BaseURL
	service  *balance.Service // nil unless requests go to instances
	encoding []string         // value of Accept-Encoding for baseHost
	gzip     []string         // the values are shared by all requests and never written
	identity []string
	agent    []string
}

// NewClient returns a client. It starts no goroutine and opens no connection.
func NewClient(o Options) *Client {
	c := &Client{
		name:     o.Name,
		timeout:  o.Timeout,
		bulkhead: newBulkhead(o.Bulkhead),
		retries:  newRetrier(o.Retries),
		limits:   limits{bytes: cmp.Or(o.MaxBytes, noSize), ratio: o.MaxRatio},
		gzip:     slices.Clip([]string{"gzip, deflate"}),
		identity: slices.Clip([]string{"identity"}),
		agent:    slices.Clip([]string{cmp.Or(o.UserAgent, "drawbridge")}),
	}
	if o.BaseURL != nil {
		o.NamedHosts = append(slices.Clone(o.NamedHosts), o.BaseURL.Hostname())
		c.baseHost = o.BaseURL.Host
		c.encoding = c.acceptEncoding(o.BaseURL)
	}
	c.allErrors = o.Breaker.AllErrors
	c.health = newHealth(o.Breaker, c.baseHost, o.OnStateChange)
	g := newDialPolicy(o.NamedHosts, o.DocumentHosts, o.AllowedAddresses, o.Connect)
	g.confine(o.OnlyAddresses)
	c.dialPolicy, c.socket = g, o.Socket != ""
	direct := g.dial
	if o.Socket != "" {
		direct = socketDialer(o.Socket, o.Connect)
	}
	if o.dial != nil {
		direct = o.dial
	}
	dial := dialers{plain: newProxyRoute(o.Proxy, "http", g, direct, o.Connect), secure: newProxyRoute(o.Proxy, "https", g, direct, o.Connect)}
	spoken := &protocols{}
	c.pool = newPool(o.ConnectionAge, spoken, func() *connections {
		t := newTransport(o, dial, spoken)
		plain := newCleartext(recovering(dial.plain), t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost)
		plain.panicked = o.OnPanic
		plain.off = o.Proxy.encryptsPlain()
		patient := newTransport(o, dial, spoken)
		patient.ResponseHeaderTimeout = 0
		return &connections{cleartext: plain, transport: t, noTimeout: patient}
	})
	c.onUnknownCoding = o.OnUnknownCoding
	c.traced = o.TracerProvider != nil
	var calls, patient http.RoundTripper = c.pool, noTimeoutPool{c.pool}
	if o.Instances != nil && o.BaseURL != nil {
		c.service = balance.New(balance.Options{
			Host: o.BaseURL.Host, Instances: o.Instances, Having: o.Having, Unsent: isUnsent, None: &dialError{kind: Connect, err: errors.New("the service has no instance")},
			Ejection: c.newEjection(&o),
		})
		calls, patient = c.service.Over(calls), c.service.Over(patient)
	}
	c.chain, c.noTimeoutChain = newChain(o, calls), newChain(o, patient)
	return c
}

// WithOperation returns a context whose requests go to instances that have an operation, such as "GET /orders/{id}".
func WithOperation(ctx context.Context, operation string) context.Context {
	return balance.WithOperation(ctx, operation)
}

// newChain wraps a pool with the layers that are common to all calls.
func newChain(o Options, pool http.RoundTripper) http.RoundTripper {
	var chain http.RoundTripper = classifier{name: o.Name, next: pool}
	if o.Wrap != nil {
		chain = o.Wrap(chain)
	}
	if o.TracerProvider != nil {
		chain = newTraced(o.TracerProvider, o.Name, chain)
	}
	return chain
}

// Do sends one request, with retries according to [Options.Retries] if its method is idempotent;
// see [Client.Send].
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	resp, _, err := c.Send(req, RetryByMethod, LimitHeader)
	return resp, err
}

// Send sends one request and returns the response header; its errors have type [*Error]. It takes
// ownership of the request, and sets Accept-Encoding and User-Agent. A redirect is a response like
// any other (E3). Reading the body, which is decoded and limited, fails with [*Error] too. The
// caller must close the body, which ends the call; until then the call holds a slot of the
// bulkhead, except while it waits for a retry. resp.Request is req without the additions of the
// credential. requests is the number of requests that the service received or may have received:
// without attempts in which nothing was sent, and with both requests if the credential retried
// after a 401.
//
// A request with a body can only be retried if it has GetBody.
func (c *Client) Send(req *http.Request, repeat RetryPolicy, header HeaderTimeout) (resp *http.Response, requests int, err error) {
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if !c.traced {
		propagate(req)
	}
	return c.do(req, c.limits, repeat, header)
}

// State returns the worst state of the breakers of all hosts.
func (c *Client) State() State { return c.health.worst() }

// Load returns the number of calls in flight and of calls that wait for the bulkhead; both are 0
// without a bulkhead.
func (c *Client) Load() (inFlight, queued int) {
	if c.bulkhead == nil {
		return 0, 0
	}
	return c.bulkhead.load()
}

// Ejected returns how many instances of the service get no calls for a while, because nothing could
// connect to them or calls to them fail. ok is false if calls don't go to instances.
func (c *Client) Ejected() (n int, ok bool) {
	if c.service == nil {
		return 0, false
	}
	return c.service.Ejected(), true
}

// Close closes the idle connections; calls in flight continue.
func (c *Client) Close() { c.pool.close() }

// do is Send with custom limits; it may write to req.Header. A request whose context has a deadline
// is sent without a new context and a copy. The deadline covers all waiting (L1).
func (c *Client) do(req *http.Request, l limits, repeat RetryPolicy, header HeaderTimeout) (_ *http.Response, requests int, _ error) {
	sent, cancel := req, context.CancelFunc(func() {})
	if _, limited := req.Context().Deadline(); !limited && c.timeout > 0 {
		var ctx context.Context
		ctx, cancel = context.WithTimeout(req.Context(), c.timeout)
		sent = req.WithContext(ctx)
	}
	c.setHeader(sent)
	if err := c.acquire(sent); err != nil {
		cancel()
		return nil, 0, err
	}
	handedOver, at := false, attempts{holdsSlot: true}
	defer func() {
		if handedOver {
			return
		}
		if at.holdsSlot {
			c.release()
		}
		cancel()
	}()
	chain := c.chain
	if header == NoHeaderTimeout {
		chain = c.noTimeoutChain
	}
	resp, call, err := c.send(sent, chain, repeat, &at)
	if err != nil {
		return nil, at.requests, err
	}
	resp.Request = req
	if err := c.setBody(sent, cancel, resp, l, call, at.holdsSlot); err != nil {
		resp.Body.Close()
		return nil, at.requests, err
	}
	handedOver = true
	return resp, at.requests, nil
}

// acquire takes a slot of the bulkhead. A call that the breaker would reject does not wait for one.
func (c *Client) acquire(req *http.Request) error {
	if c.health != nil {
		if wait, ok := c.health.forHost(req.URL.Host).check(); !ok {
			return &Error{Kind: BreakerOpen, API: c.name, Err: errOpen, RetryAfter: wait}
		}
	}
	if c.bulkhead == nil {
		return nil
	}
	err := c.bulkhead.acquire(req.Context())
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &Error{Kind: Canceled, API: c.name, Err: err, unprocessed: true}
	}
	return &Error{Kind: Overloaded, API: c.name, Err: err, RetryAfter: c.bulkhead.limit.Wait}
}

func (c *Client) release() {
	if c.bulkhead != nil {
		c.bulkhead.release()
	}
}

var errOpen = errors.New("the breaker is open")

func (c *Client) setHeader(req *http.Request) {
	if c.encoding != nil && req.URL.Host == c.baseHost {
		req.Header["Accept-Encoding"] = c.encoding
	} else {
		req.Header["Accept-Encoding"] = c.acceptEncoding(req.URL)
	}
	if len(req.Header["User-Agent"]) == 0 {
		req.Header["User-Agent"] = c.agent
	}
}

// acceptEncoding requests compression, except over loopback, where it does not pay: for 256 KiB of
// JSON it costs the service about 900 µs and the gateway 35 µs, while the whole call takes 60 µs
// (BenchmarkDecode, BenchmarkDo).
func (c *Client) acceptEncoding(u *url.URL) []string {
	if origin.Loopback(u.Hostname()) {
		return c.identity
	}
	return c.gzip
}

// normalizeStatus replaces an invalid status by 500, as RFC 9110 section 15 says: one below 100
// would count as a success in comparisons. resp.Status keeps the line that the service sent.
func normalizeStatus(resp *http.Response) {
	if resp.StatusCode < 100 || resp.StatusCode > 599 {
		resp.StatusCode = http.StatusInternalServerError
	}
}

// checkHead rejects response headers that net/http accepts.
func checkHead(resp *http.Response) error {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return fmt.Errorf("status 101 without an upgrade having been asked for")
	}
	lines := 0
	for _, values := range resp.Header {
		lines += len(values)
	}
	if lines > maxHeaderLines {
		return fmt.Errorf("%d header lines, more than %d", lines, maxHeaderLines)
	}
	return nil
}
