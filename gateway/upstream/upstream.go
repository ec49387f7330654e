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

	"drawbridge/gateway/origin"
)

// Options configure a [Client]. Times and sizes have no defaults here: zero stands for no limit.
type Options struct {
	// Name is the configured name of the API; errors and spans carry it.
	Name string
	// BaseURL is the base URL that the operator configured; its host counts as
	// one of NamedHosts. Nil: none was configured.
	BaseURL *url.URL
	// NamedHosts are host names or IP literals, without ports, that the operator
	// wrote down (the host of the spec's URL, those of allow_servers). They may
	// stand on private and loopback addresses; every other host must be on a
	// public one (E1).
	NamedHosts []string
	// DocumentHosts are hosts that a document names as its servers, as far as
	// requirement S7 lets it. They may stand on private addresses, but never on
	// those of a cloud's metadata service or on link-local ones, however spelled.
	DocumentHosts []string
	// AllowedAddresses are address ranges on which any host may stand. For a
	// host that is not itself an IP literal they are the only way to a
	// link-local or metadata address, and one leads there only if it holds nothing else.
	AllowedAddresses []netip.Prefix

	// Timeout is the time for a whole call, from Do to the last byte of the
	// body. It counts only if the request's context has no deadline of its own,
	// so that a rule for one operation may be longer or shorter. 0: any time.
	Timeout time.Duration
	// Connect is the time for name resolution and the TCP handshake. 0: any time.
	Connect time.Duration
	// TLSHandshake is the time for the TLS handshake. 0: any time.
	TLSHandshake time.Duration
	// FirstByte is the time from the request's end to the answer's head, but for
	// calls that are [Patient]. 0: any time.
	FirstByte time.Duration

	// MaxBytes is the size of the largest answer, decoded. 0: any size.
	MaxBytes int64
	// MaxRatio is the largest ratio of decoded to encoded bytes, looked at once
	// 64 KiB are decoded. 0: any ratio.
	MaxRatio int64
	// MaxIdle is the number of idle connections kept to one host. Default 256.
	MaxIdle int
	// Room bounds the calls under way at the same time.
	Room Room
	// Breaker says when a service that fails is left alone.
	Breaker Breaker
	// Retries say how often a request is sent again.
	Retries Retries
	// StateChanged is told when the breaker of a host ("" for those of which there
	// are too many) changes its state. It must return soon, and must not call the client. Nil: nobody is.
	StateChanged func(host string, from, to State)
	// OddCoding is told of each answer whose Content-Encoding has a word that names no coding, such as UTF-8, and is ignored. Nil: nobody is.
	OddCoding func()
	// Panicked is told of a panic that no call sees, where it is recovered. Nil: nobody is.
	Panicked func(what string, v any)
	// ConnectionAge is how old a connection may be when it takes a call. 0: any.
	ConnectionAge time.Duration
	// UserAgent is sent where the request has none. Default "drawbridge".
	UserAgent string

	// RootCAs are the certificate authorities. Nil: the system's.
	RootCAs *x509.CertPool
	// TLS returns the configuration for one connection to addr, host and port:
	// base, or a changed copy of it. Its errors are of the kind Credential, and
	// it is for the caller that they hold no secret. Nil: base.
	TLS func(base *tls.Config, addr string) (*tls.Config, error)
	// Wrap puts the credential around the transport, of which there are two. It
	// is for the caller that its errors hold no secret. Nil: none.
	Wrap func(http.RoundTripper) http.RoundTripper
	// TracerProvider makes a span for each call and sends the trace context,
	// but never baggage, to the service (O13). Nil: neither.
	TracerProvider trace.TracerProvider

	ping time.Duration // for tests: the silence after which an HTTP/2 connection is asked whether it lives; default 15 s
	dial dialer        // for tests: connects instead of the guard; nil: it does
}

// noSize is the most bytes of an answer without a limit; sums with it don't overflow.
const noSize = 1 << 62

// maxHeaderBytes and maxHeaderLines limit the head of an answer (P1).
const (
	maxHeaderBytes = 64 << 10
	maxHeaderLines = 100
)

// Client calls one API. It is safe for concurrent use.
type Client struct {
	name      string
	timeout   time.Duration
	limits    limits
	room      *room    // nil: no bounds
	health    *health  // nil: no breaker
	allErrors bool     // Breaker.AllErrors
	retries   *retrier // nil: nothing is sent again
	guard     *guard
	pool      *pool
	chain     http.RoundTripper // tracing, then credential, then pool
	patient   http.RoundTripper // the same for calls that are Patient
	oddCoding func()            // nil: nobody is told
	traced    bool              // both send the trace context
	decoders  decoderPool

	baseHost string   // Host of BaseURL
	encoding []string // value of Accept-Encoding for baseHost
	gzip     []string // the values are shared by all requests and never written
	identity []string
	agent    []string
}

// NewClient returns a client. It starts nothing and connects nowhere.
func NewClient(o Options) *Client {
	c := &Client{
		name:     o.Name,
		timeout:  o.Timeout,
		room:     newRoom(o.Room),
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
	c.health = newHealth(o.Breaker, c.baseHost, o.StateChanged)
	g := newGuard(o.NamedHosts, o.DocumentHosts, o.AllowedAddresses, o.Connect)
	c.guard = g
	dial := g.dial
	if o.dial != nil {
		dial = o.dial
	}
	spoken := &protocols{}
	c.pool = newPool(o.ConnectionAge, spoken, func() *connections {
		t := newTransport(o, dial, spoken)
		plain := newCleartext(t.DialContext, t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost)
		plain.panicked = o.Panicked
		patient := newTransport(o, dial, spoken)
		patient.ResponseHeaderTimeout = 0
		return &connections{cleartext: plain, transport: t, patient: patient}
	})
	c.oddCoding = o.OddCoding
	c.traced = o.TracerProvider != nil
	c.chain, c.patient = newChain(o, c.pool), newChain(o, patientPool{c.pool})
	return c
}

// newChain puts around a pool what all calls pass.
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

// Do sends one request, and again as [Options.Retries] say if its method is
// idempotent; see [Client.Send].
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	resp, _, err := c.Send(req, ByMethod, Brief)
	return resp, err
}

// Send sends one request and returns the head of the answer; its errors are of
// type [*Error]. It takes the request over: the header gets Accept-Encoding and
// User-Agent. A redirect is an answer like any other (E3). Reading the body, which is decoded and
// capped, fails with [*Error] too; the caller must close it, and that ends the
// call, which has its place in the room until then, but for the time that it waits
// to be sent again. resp.Request is req without
// what the credential added. requests is how often the service was asked, or may
// have been: without the times that nothing was sent, and with two for a request
// that the credential made again after an answer of 401.
//
// A request with a body can only be sent again if it has GetBody.
func (c *Client) Send(req *http.Request, repeat Repeat, patience Patience) (resp *http.Response, requests int, err error) {
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if !c.traced {
		propagate(req)
	}
	return c.do(req, c.limits, repeat, patience)
}

// State returns where the breaker of the host stands that stands worst.
func (c *Client) State() State { return c.health.worst() }

// Load returns how many calls are under way, and how many wait for room; both
// are 0 if there are no bounds.
func (c *Client) Load() (inFlight, queued int) {
	if c.room == nil {
		return 0, 0
	}
	return c.room.load()
}

// Close closes the idle connections; calls in flight go on.
func (c *Client) Close() { c.pool.close() }

// do is Send with limits of the caller's choice; it may write to req.Header. A
// request that brings its deadline is sent as it is: no context and no copy are
// made. All that a call waits for is within that one deadline (L1).
func (c *Client) do(req *http.Request, l limits, repeat Repeat, patience Patience) (_ *http.Response, requests int, _ error) {
	sent, cancel := req, context.CancelFunc(func() {})
	if _, limited := req.Context().Deadline(); !limited && c.timeout > 0 {
		var ctx context.Context
		ctx, cancel = context.WithTimeout(req.Context(), c.timeout)
		sent = req.WithContext(ctx)
	}
	c.setHeader(sent)
	if err := c.enter(sent); err != nil {
		cancel()
		return nil, 0, err
	}
	given, at := false, passage{inside: true}
	defer func() {
		if given {
			return
		}
		if at.inside {
			c.leave()
		}
		cancel()
	}()
	over := c.chain
	if patience == Patient {
		over = c.patient
	}
	resp, call, err := c.send(sent, over, repeat, &at)
	if err != nil {
		return nil, at.requests, err
	}
	resp.Request = req
	if err := c.setBody(sent, cancel, resp, l, call, at.inside); err != nil {
		resp.Body.Close()
		return nil, at.requests, err
	}
	given = true
	return resp, at.requests, nil
}

// enter gets a call its place in the room. Whom the breaker would refuse does
// not even wait for one.
func (c *Client) enter(req *http.Request) error {
	if c.health != nil {
		if wait, ok := c.health.of(req.URL.Host).ask(); !ok {
			return &Error{Kind: BreakerOpen, API: c.name, Err: errOpen, RetryAfter: wait}
		}
	}
	if c.room == nil {
		return nil
	}
	err := c.room.enter(req.Context())
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &Error{Kind: Canceled, API: c.name, Err: err, unsent: true}
	}
	return &Error{Kind: Overloaded, API: c.name, Err: err, RetryAfter: c.room.limit.Wait}
}

func (c *Client) leave() {
	if c.room != nil {
		c.room.leave()
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

// acceptEncoding asks for compressed answers, except over loopback, where
// nothing is saved: for 256 KiB of JSON the service would spend some 900 µs and
// we 35 µs, where the whole call takes 60 µs (BenchmarkDecode, BenchmarkDo).
func (c *Client) acceptEncoding(u *url.URL) []string {
	if origin.Loopback(u.Hostname()) {
		return c.identity
	}
	return c.gzip
}

// readStatus makes 500 of a status that HTTP does not have: it is to be treated as a 5xx (RFC 9110 section 15), and one below 100
// would pass for a success wherever statuses are compared. The line that the service sent stays in resp.Status.
func readStatus(resp *http.Response) {
	if resp.StatusCode < 100 || resp.StatusCode > 599 {
		resp.StatusCode = http.StatusInternalServerError
	}
}

// checkHead refuses heads that net/http lets pass.
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
