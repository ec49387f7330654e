package credential

import (
	"context"
	"io"
	"net/http"
	"time"

	"drawbridge/openapi/origin"
)

// credentials are the credentials of a request, all of which are added. At most one of them has
// tokens, accounts or digests, which use the same header, or else is a choice that was rejected (see
// conflict).
type credentials struct{ list []*credential }

// transport adds credentials to requests.
type transport struct {
	next        http.RoundTripper
	origin      origin.Origin
	credentials *credentials // nil if there are none by default
	set         *Set         // the set whose [Choice] in a request's context overrides credentials; nil if there is none
}

// tokenIssuer obtains the tokens of one credential. It is safe for concurrent use.
type tokenIssuer interface {
	// source returns the source of the token for a request, and the caller's own token if the source needs it.
	source(ctx context.Context) (*tokenSource, string, error)
	// fetcher returns the fetcher for the source. next sends requests to the service itself.
	fetcher(next http.RoundTripper) fetcher
	// field returns the part of a request that holds the token.
	field() field
	// isRejected reports whether a 401 with the header may be caused by the token.
	isRejected(h http.Header) bool
	// timeoutError converts the error of a call whose deadline ended while it waited for a token.
	timeoutError(err error) error
	// clock returns the clock.
	clock() func() time.Time
}

// sent is what a response may reject: the token or the digest of a request.
type sent struct {
	issuer  tokenIssuer
	source  *tokenSource
	subject string
	token   *token // nil if the token was requested for this request: another would not be better

	digest *digest
	nonce  string // of the digest; empty if there was none
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	b := t.credentials
	if t.set != nil {
		if c, ok := req.Context().Value(choiceKey{}).(*Choice); ok && c.set == t.set {
			b = &c.credentials
		}
	}
	if b == nil || len(b.list) == 0 || !goesTo(req, t.origin) {
		return t.next.RoundTrip(req)
	}
	own, h, err := b.apply(req, t.next)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface demands
		}
		return nil, err
	}
	if a := b.accounts(); a != nil {
		resp, err := sendFromAccount(a, own, t.next)
		return restoreRequest(req, resp), err
	}
	resp, err := t.next.RoundTrip(own)
	switch {
	case err != nil:
	case h.digest != nil:
		resp, err = h.digest.settle(t.next, own, h.nonce, resp)
	case resp.StatusCode == http.StatusUnauthorized && h.token != nil && replayable(req) && h.issuer.isRejected(resp.Header):
		resp, err = t.retry(own, h, restoreRequest(req, resp))
	}
	return restoreRequest(req, resp), err
}

// restoreRequest replaces the request with the credential in a response by the original, so that
// code that logs its URL or follows it elsewhere never sees the credential. The link to a first
// response is kept (see retry).
func restoreRequest(req *http.Request, resp *http.Response) *http.Response {
	if resp == nil {
		return nil
	}
	if resp.Request != nil && resp.Request.Response != req.Response {
		first := resp.Request.Response
		req = req.WithContext(req.Context()) // a shallow copy
		req.Response = first
	}
	resp.Request = req
	return resp
}

// accounts returns the accounts of which the request gets a token; nil if there are none.
func (b *credentials) accounts() Accounts {
	for _, p := range b.list {
		if p.accounts != nil {
			return p.accounts
		}
	}
	return nil
}

// apply returns a copy of req with the credentials, and what a response may reject of them. next
// sends requests to the service itself.
func (b *credentials) apply(req *http.Request, next http.RoundTripper) (own *http.Request, h sent, err error) {
	own = req
	var last *credential
	for _, p := range b.list {
		switch {
		case p.static != nil:
			if own, err = p.static.apply(own); err != nil {
				return nil, sent{}, err
			}
		case p.sigV4 != nil, p.digest != nil:
			last = p
		case p.tokens != nil:
			ctx := req.Context()
			c, subject, err := p.tokens.source(ctx)
			if err != nil {
				return nil, sent{}, err
			}
			tok, fresh, err := c.get(ctx, p.tokens.fetcher(next), p.tokens.clock(), subject, nil)
			if err != nil {
				return nil, sent{}, p.tokens.timeoutError(err)
			}
			if own = withToken(own, p.tokens.field(), tok); !fresh {
				h = sent{issuer: p.tokens, source: c, subject: subject, token: tok}
			}
		}
	}
	// Last, because everything that the others added is signed.
	switch {
	case last == nil:
	case last.sigV4 != nil:
		own, err = last.sigV4.apply(own)
	default:
		h.digest = last.digest
		own, h.nonce, err = last.digest.apply(own)
	}
	if err != nil {
		return nil, sent{}, err
	}
	return own, h, nil
}

func withToken(req *http.Request, at field, t *token) *http.Request {
	header := t.header()
	value := header[0]
	if at.location == Header {
		value = withoutScheme(value)
	}
	recordSent(req.Context(), value)
	return at.set(req, header)
}

// retry sends a request again after a 401, if another token is available. A service that answers
// 401 has not acted on the request, whatever its method (RFC 9110 section 15.5.2). The second
// request refers to the first response, like a request of [http.Client] after a redirect, so that
// callers know that two were sent.
func (t *transport) retry(own *http.Request, h sent, resp *http.Response) (*http.Response, error) {
	other, err := h.source.renew(own.Context(), h.issuer.fetcher(t.next), h.issuer.clock(), h.subject, h.token)
	if err != nil { // the caller can act on this error, unlike on the service's 401
		discard(resp)
		return nil, err
	}
	if other == nil {
		return resp, nil
	}
	return resend(t.next, withToken(own, h.issuer.field(), other), resp)
}

// resend sends second, a request like that of resp with another credential.
func resend(next http.RoundTripper, second *http.Request, resp *http.Response) (*http.Response, error) {
	if second.GetBody != nil {
		body, err := second.GetBody()
		if err != nil {
			return resp, nil // the first response stands
		}
		second.Body = body
	}
	discard(resp)
	second.Response = resp
	answer, err := next.RoundTrip(second)
	if answer != nil {
		answer.Request = second
	}
	return answer, err
}

// replayable reports whether the body of a request can be sent again.
func replayable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// maxDiscarded is the number of bytes read from a response to reuse its connection, drainTime the
// time limit for that.
const (
	maxDiscarded = 4 << 10
	drainTime    = 50 * time.Millisecond
)

func discard(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= maxDiscarded {
		timer := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, maxDiscarded) // otherwise the connection is not reused
		timer.Stop()
	}
	resp.Body.Close()
}
