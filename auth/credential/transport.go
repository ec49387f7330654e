package credential

import (
	"io"
	"net/http"
	"time"

	"drawbridge/openapi/origin"
)

// credentials are the credentials of a request, all of which are added. At most one of them has a
// grant or accounts, since all tokens use the same header.
type credentials struct{ list []*credential }

// transport adds credentials to requests.
type transport struct {
	next        http.RoundTripper
	origin      origin.Origin
	credentials *credentials // nil if there are none by default
	set         *Set         // the set whose [Choice] in a request's context overrides credentials; nil if there is none
}

// sentToken is the token that a request was sent with.
type sentToken struct {
	grant   *grant
	source  *tokenSource
	subject string
	token   *token
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
	own, sent, err := b.apply(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface demands
		}
		return nil, err
	}
	if a := b.accounts(); a != nil {
		resp, err := sendFromAccount(a, own, t.next.RoundTrip)
		return restoreRequest(req, resp), err
	}
	resp, err := t.next.RoundTrip(own)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && sent.token != nil && replayable(req) && blamesToken(resp.Header) {
		resp, err = t.retry(own, sent, restoreRequest(req, resp))
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

// apply returns a copy of req with the credentials. The sentToken is empty if the token was
// requested for this request: another would not be better.
func (b *credentials) apply(req *http.Request) (own *http.Request, h sentToken, err error) {
	own = req
	var last *sigV4
	for _, p := range b.list {
		switch {
		case p.static != nil:
			if own, err = p.static.apply(own); err != nil {
				return nil, sentToken{}, err
			}
		case p.sigV4 != nil:
			last = p.sigV4
		case p.grant != nil:
			ctx := req.Context()
			c, subject, err := p.grant.source(ctx)
			if err != nil {
				return nil, sentToken{}, err
			}
			tok, fresh, err := c.get(ctx, p.grant, p.grant.now, subject, nil)
			if err != nil {
				return nil, sentToken{}, p.grant.timeoutError(err)
			}
			if own = withToken(own, tok); !fresh {
				h = sentToken{grant: p.grant, source: c, subject: subject, token: tok}
			}
		}
	}
	if last != nil { // last, because everything that the others added is signed
		if own, err = last.apply(own); err != nil {
			return nil, sentToken{}, err
		}
	}
	return own, h, nil
}

func withToken(req *http.Request, t *token) *http.Request {
	own := req.WithContext(req.Context()) // a shallow copy
	own.Header = cloneHeader(req.Header, "Authorization")
	own.Header["Authorization"] = t.header()
	recordSent(req.Context(), t.header())
	return own
}

// retry sends a request again after a 401, if another token is available. A service that answers
// 401 has not acted on the request, whatever its method (RFC 9110 section 15.5.2). The second
// request refers to the first response, like a request of [http.Client] after a redirect, so that
// callers know that two were sent.
func (t *transport) retry(own *http.Request, h sentToken, resp *http.Response) (*http.Response, error) {
	other, err := h.source.renew(own.Context(), h.grant, h.grant.now, h.subject, h.token)
	if err != nil { // the caller can act on this error, unlike on the service's 401
		discard(resp)
		return nil, err
	}
	if other == nil {
		return resp, nil
	}
	second := withToken(own, other)
	if own.GetBody != nil {
		body, err := own.GetBody()
		if err != nil {
			return resp, nil // the first response stands
		}
		second.Body = body
	}
	discard(resp)
	second.Response = resp
	answer, err := t.next.RoundTrip(second)
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
