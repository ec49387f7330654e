package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/openapi/origin"
)

// PassedHeader is a header of the caller's request that is passed through to a service.
type PassedHeader struct {
	// From is the header that the caller sends, To the one that the service gets. They are equal
	// unless Credential is set.
	From, To string
	// Credential reports that the value is the caller's own credential for the service. To may then
	// be Authorization, the value is recorded in [Sent], and a value that
	// [PassThroughOptions.IsGatewayToken] recognizes is not sent.
	Credential bool
}

// PassThroughOptions configure the headers that are passed through to a service.
type PassThroughOptions struct {
	// Headers are passed through. None may be one that determines identity, destination or framing
	// of the request: see [CheckPassedHeader].
	Headers []PassedHeader
	// IsGatewayToken reports whether a credential is one for the gateway, which must not be sent to
	// a service. It is required if a header is a credential.
	IsGatewayToken func(ctx context.Context, value string) bool
	// Inbound returns the headers of the caller's request, to which ctx belongs; nil if there are
	// none. They are not modified.
	Inbound func(ctx context.Context) http.Header
	// Origin is the service; the headers are sent to no other.
	Origin *url.URL
}

// maxPassed is the maximum length of a passed value in bytes.
const maxPassed = 8 << 10

// maxPassedNames is the maximum number of passed headers.
const maxPassedNames = 32

// NewPassThrough returns a wrapper that adds headers of the caller's request to requests for the
// service. Headers with these names in the request, in any spelling, are removed: a passed header
// comes from the caller, and no argument can set it. The wrapper fails, and sends nothing, if the
// caller's header is duplicated, is longer than 8 KiB, or contains a control character: a service
// that relies on it must not be called without it.
//
// The error lists all names that can't be passed, according to [CheckPassedHeader].
func NewPassThrough(o PassThroughOptions) (func(http.RoundTripper) http.RoundTripper, error) {
	p := &passThrough{inbound: o.Inbound, isGatewayToken: o.IsGatewayToken}
	var problems []error
	var err error
	if p.origin, err = parseOrigin(o.Origin); err != nil {
		problems = append(problems, err)
	}
	if o.Inbound == nil {
		problems = append(problems, errors.New("credential: inbound headers are missing"))
	}
	if len(o.Headers) > maxPassedNames {
		problems = append(problems, fmt.Errorf("credential: %d headers to pass, more than %d", len(o.Headers), maxPassedNames))
	}
	for _, h := range o.Headers {
		from, to := CheckPassedHeader(h)
		if from != nil || to != nil {
			problems = append(problems, from, to)
			continue
		}
		if h.Credential && o.IsGatewayToken == nil {
			problems = append(problems, errors.New("credential: nobody tells which credentials are those for the gateway"))
		}
		h.From, h.To = http.CanonicalHeaderKey(h.From), http.CanonicalHeaderKey(h.To)
		p.headers = append(p.headers, h)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return func(next http.RoundTripper) http.RoundTripper {
		own := *p
		own.next = next
		return &own
	}, nil
}

// passThrough adds headers of the caller's request.
type passThrough struct {
	next           http.RoundTripper
	origin         origin.Origin
	headers        []PassedHeader // with canonical names
	inbound        func(ctx context.Context) http.Header
	isGatewayToken func(ctx context.Context, value string) bool
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (p *passThrough) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(p.headers) == 0 || !goesTo(req, p.origin) {
		return p.next.RoundTrip(req)
	}
	ctx := req.Context()
	in := p.inbound(ctx)
	own := req.WithContext(ctx) // a shallow copy
	for i, h := range p.headers {
		if i == 0 || hasField(own.Header, h.To) {
			own.Header = cloneHeader(own.Header, h.To)
		}
		values := in[h.From] // net/http has canonicalized the name, except for "_"
		if len(values) == 0 {
			continue
		}
		err := checkPassedValue(h.From, values)
		if err == nil && h.Credential {
			err = p.checkCredential(ctx, h.From, values[0])
		}
		if err != nil {
			if req.Body != nil {
				req.Body.Close() // as the interface demands
			}
			return nil, err
		}
		own.Header[h.To] = values
	}
	resp, err := p.next.RoundTrip(own)
	return restoreRequest(req, resp), err
}

// HeaderError reports that a header of the caller can't be passed through; nothing was sent to the
// service.
type HeaderError struct {
	// Name is the name of the header.
	Name string

	reason string
}

// Error returns the text for the log. It does not contain the header's value.
func (e *HeaderError) Error() string {
	return fmt.Sprintf("credential: the caller's header %q %s", e.Name, e.reason)
}

// ToolMessage returns the text for the model.
func (e *HeaderError) ToolMessage() string {
	return fmt.Sprintf("The header %s of the client's request, which the service gets too, %s. Nothing was sent to the service."+
		" Other arguments do not help: tell the user that the MCP client must send that header otherwise, or not at all.", e.Name, e.reason)
}

// checkCredential records the caller's own credential for the service, and rejects one for the
// gateway (T1).
func (p *passThrough) checkCredential(ctx context.Context, name, value string) error {
	if p.isGatewayToken(ctx, value) {
		return &HeaderError{name, "holds a token for the gateway, which no service may get"}
	}
	recordPassed(ctx, value)
	return nil
}

// checkPassedValue checks the values of a caller's header.
func checkPassedValue(name string, values []string) error {
	switch {
	case len(values) > 1: // servers disagree on which of them counts (H4)
		return &HeaderError{name, fmt.Sprintf("is there %d times", len(values))}
	case len(values[0]) > maxPassed:
		return &HeaderError{name, fmt.Sprintf("is longer than %d bytes", maxPassed)}
	}
	for i := range len(values[0]) {
		if c := values[0][i]; c < ' ' && c != '\t' || c == 0x7f {
			return &HeaderError{name, "holds a control character"}
		}
	}
	return nil
}

// CheckPassedHeader checks the names of a header to pass. Not allowed are credentials
// (Authorization, Proxy-*, Cookie, DPoP), headers with the source of a request (Forwarded,
// X-Forwarded-*, X-Real-IP, …) or its destination (Host, X-Original-*, …), framing and hop-by-hop
// headers, content headers, trace context, and Mcp-*. A credential may be passed as Authorization.
func CheckPassedHeader(h PassedHeader) (from, to error) {
	from = checkPassedName(h.From)
	if h.Credential && sameField(h.To, "Authorization") || h.To == h.From {
		return from, nil
	}
	return from, checkPassedName(h.To)
}

func checkPassedName(name string) error {
	if name == "" {
		return errors.New("credential: a header to pass has no name")
	}
	for i := range len(name) {
		if !isTokenByte(name[i]) {
			return fmt.Errorf("credential: %q is not a name for a header", name)
		}
	}
	if isReserved(name) {
		return fmt.Errorf("credential: header %q can't be passed on", name)
	}
	return nil
}

// isReserved reports whether a caller may not set a header, in any spelling that some server
// accepts for it (R6).
func isReserved(name string) bool {
	name = strings.Map(func(r rune) rune { return rune(fold(byte(r))) }, name)
	for _, prefix := range []string{"proxy-", "x-forwarded-", "x-original-", "x-rewrite-", "x-accel-", "x-envoy-", "mcp-", "content-", "sec-", "access-control-", "if-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "proxy", // HTTP_PROXY to a CGI program (httpoxy)
		"authorization", "cookie", "cookie2", "set-cookie", "dpop", "www-authenticate", // identity
		"host", "origin", "referer", "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip", "true-client-ip", // source and destination
		"cf-connecting-ip", "fastly-client-ip", "x-host", "x-http-host-override", "x-http-method", "x-http-method-override", "x-method-override", "x-forwarded", "x-url-scheme", "x-scheme", "front-end-https",
		"x-remote-ip", "x-remote-addr", "remote-addr", "x-originating-ip", "wl-proxy-client-ip", "remote-user", "x-remote-user", "remote-groups", "x-remote-group", "x-sendfile-type", "x-middleware-subrequest",
		"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect", "max-forwards", // hop-by-hop
		"accept", "accept-encoding", "accept-charset", "range", "user-agent", "date", "pragma", "cache-control", "idempotency-key", // set by the gateway
		"traceparent", "tracestate", "baggage", "last-event-id":
		return true
	}
	return false
}
