package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/origin"
)

// Passed is a header of the caller's request that goes on to a service.
type Passed struct {
	// From is the header that the caller sends, To the one that the service gets.
	// To is From, but for a credential.
	From, To string
	// Credential says that the value is the caller's own credential for the
	// service. Then To may be Authorization, the value is noted in [Sent], and one
	// that [PassOptions.Refuse] knows is not sent.
	Credential bool
}

// PassOptions say which headers of the caller's request go on to a service.
type PassOptions struct {
	// Headers are what goes on. None may be one that decides who is who, where the
	// request goes or how it is framed: see [CheckPassed].
	Headers []Passed
	// Refuse reports whether a credential is one for the gateway, which no service
	// may get. It is needed where a header is a credential.
	Refuse func(ctx context.Context, value string) bool
	// Inbound returns the headers of the caller's request, to which ctx belongs;
	// nil if there are none. They are not written to.
	Inbound func(ctx context.Context) http.Header
	// Origin is the service; nobody else gets them.
	Origin *url.URL
}

// maxPassed is the length of the longest value that is passed, in bytes.
const maxPassed = 8 << 10

// maxPassedNames is how many headers may be passed.
const maxPassedNames = 32

// NewPass returns a wrapper that adds headers of the caller's request to those
// for the service. What a request has under these names already, in any
// spelling, is removed: a header that is passed comes from the caller, and no
// argument can set it. The wrapper fails, and sends nothing, if the caller's
// header is there twice, is longer than 8 KiB, or holds a control character: a
// service that relies on it must not be called without it.
//
// The error lists all names that can't be passed, by [CheckPassed].
func NewPass(o PassOptions) (func(http.RoundTripper) http.RoundTripper, error) {
	p := &pass{inbound: o.Inbound, refuse: o.Refuse}
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
		from, to := CheckPassed(h)
		if from != nil || to != nil {
			problems = append(problems, from, to)
			continue
		}
		if h.Credential && o.Refuse == nil {
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

// pass adds headers of the caller's request.
type pass struct {
	next    http.RoundTripper
	origin  origin.Origin
	headers []Passed // with canonical names
	inbound func(ctx context.Context) http.Header
	refuse  func(ctx context.Context, value string) bool
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (p *pass) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(p.headers) == 0 || !goesTo(req, p.origin) {
		return p.next.RoundTrip(req)
	}
	ctx := req.Context()
	in := p.inbound(ctx)
	own := req.WithContext(ctx) // a shallow copy
	for i, h := range p.headers {
		if i == 0 || holdsField(own.Header, h.To) {
			own.Header = cloneHeader(own.Header, h.To)
		}
		values := in[h.From] // net/http has made the name canonical, and left "_" as it was
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
	return without(req, resp), err
}

// HeaderError says that a header of the caller can't be passed on; nothing was
// sent to the service.
type HeaderError struct {
	// Name is that of the header.
	Name string

	reason string
}

// Error returns the text for the log. The header's value is not in it.
func (e *HeaderError) Error() string {
	return fmt.Sprintf("credential: the caller's header %q %s", e.Name, e.reason)
}

// ToolMessage returns the text for the model.
func (e *HeaderError) ToolMessage() string {
	return fmt.Sprintf("The header %s of the client's request, which the service gets too, %s. Nothing was sent to the service."+
		" Other arguments do not help: tell the user that the MCP client must send that header otherwise, or not at all.", e.Name, e.reason)
}

// checkCredential notes the caller's own credential for the service, and refuses
// one for the gateway (T1).
func (p *pass) checkCredential(ctx context.Context, name, value string) error {
	if p.refuse(ctx, value) {
		return &HeaderError{name, "holds a token for the gateway, which no service may get"}
	}
	notePassed(ctx, value)
	return nil
}

// checkPassedValue checks what a caller sent.
func checkPassedValue(name string, values []string) error {
	switch {
	case len(values) > 1: // which one counts, each server decides for itself (H4)
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

// CheckPassed checks the names of a header to pass. None of these can be:
// credentials (Authorization, Proxy-*, Cookie, DPoP), what says where a request
// came from (Forwarded, X-Forwarded-*, X-Real-IP, …) or goes to (Host,
// X-Original-*, …), framing and hop-by-hop headers, content headers, trace
// context, and Mcp-*. A credential may go on as Authorization.
func CheckPassed(h Passed) (from, to error) {
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
	if isFixed(name) {
		return fmt.Errorf("credential: header %q can't be passed on", name)
	}
	return nil
}

// isFixed reports whether a header is not the caller's to set, in any spelling
// that some server takes for it (R6).
func isFixed(name string) bool {
	name = strings.Map(func(r rune) rune { return rune(fold(byte(r))) }, name)
	for _, prefix := range []string{"proxy-", "x-forwarded-", "x-original-", "x-rewrite-", "x-accel-", "x-envoy-", "mcp-", "content-", "sec-", "access-control-", "if-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "proxy", // HTTP_PROXY to a CGI program (httpoxy)
		"authorization", "cookie", "cookie2", "set-cookie", "dpop", "www-authenticate", // who is who
		"host", "origin", "referer", "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip", "true-client-ip", // from where to where
		"cf-connecting-ip", "fastly-client-ip", "x-host", "x-http-host-override", "x-http-method", "x-http-method-override", "x-method-override", "x-forwarded", "x-url-scheme", "x-scheme", "front-end-https",
		"x-remote-ip", "x-remote-addr", "remote-addr", "x-originating-ip", "wl-proxy-client-ip", "remote-user", "x-remote-user", "remote-groups", "x-remote-group", "x-sendfile-type", "x-middleware-subrequest",
		"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings", "expect", "max-forwards", // this hop
		"accept", "accept-encoding", "accept-charset", "range", "user-agent", "date", "pragma", "cache-control", "idempotency-key", // made by the gateway
		"traceparent", "tracestate", "baggage", "last-event-id":
		return true
	}
	return false
}
