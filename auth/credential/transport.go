package credential

import (
	"io"
	"net/http"
	"time"

	"drawbridge/gateway/origin"
)

// bundle is the credentials of a request, all of which are attached. At most
// one of them has a grant, since all tokens stand in one header.
type bundle struct{ parts []*part }

// transport attaches credentials.
type transport struct {
	next   http.RoundTripper
	origin origin.Origin
	bundle *bundle // nil: none
	set    *Set    // whose [Choice] in a request's context stands over bundle; nil: none does
}

// held is the token that a request was sent with.
type held struct {
	grant   *grant
	cell    *cell
	subject string
	token   *token
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	b := t.bundle
	if t.set != nil {
		if c, ok := req.Context().Value(choiceKey{}).(*Choice); ok && c.set == t.set {
			b = &c.bundle
		}
	}
	if b == nil || len(b.parts) == 0 || !goesTo(req, t.origin) {
		return t.next.RoundTrip(req)
	}
	own, h, err := b.attach(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface demands
		}
		return nil, err
	}
	resp, err := t.next.RoundTrip(own)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && h.token != nil && replayable(req) && blamesToken(resp.Header) {
		resp, err = t.again(own, h, without(req, resp))
	}
	return without(req, resp), err
}

// without takes out of an answer the request with the credential: who logs the
// URL of that, or follows it elsewhere, has the one that came in. Whether it was
// made again stays (see again).
func without(req *http.Request, resp *http.Response) *http.Response {
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

// attach returns a copy of req with the credentials. held is empty if the token
// was made for this request: another would be no better.
func (b *bundle) attach(req *http.Request) (own *http.Request, h held, err error) {
	own = req
	var last *sigV4
	for _, p := range b.parts {
		switch {
		case p.attacher != nil:
			if own, err = p.attacher.attach(own); err != nil {
				return nil, held{}, err
			}
		case p.sigV4 != nil:
			last = p.sigV4
		case p.grant != nil:
			ctx := req.Context()
			c, subject, err := p.grant.lease(ctx)
			if err != nil {
				return nil, held{}, err
			}
			tok, fresh, err := c.get(ctx, p.grant, p.grant.now, subject, nil)
			if err != nil {
				return nil, held{}, p.grant.told(err)
			}
			if own = withToken(own, tok); !fresh {
				h = held{grant: p.grant, cell: c, subject: subject, token: tok}
			}
		}
	}
	if last != nil { // what the others have added is signed
		if own, err = last.attach(own); err != nil {
			return nil, held{}, err
		}
	}
	return own, h, nil
}

func withToken(req *http.Request, t *token) *http.Request {
	own := req.WithContext(req.Context()) // a shallow copy
	own.Header = cloneHeader(req.Header, "Authorization")
	own.Header["Authorization"] = t.header()
	note(req.Context(), t.header())
	return own
}

// again sends a request once more after a 401, if there is another token. A
// service that answers 401 has not acted on the request, whatever its method
// (RFC 9110 section 15.5.2). The second request has the first answer, as one of
// [http.Client] after a redirect has: by that it is known that two were sent.
func (t *transport) again(own *http.Request, h held, resp *http.Response) (*http.Response, error) {
	other, err := h.cell.renew(own.Context(), h.grant, h.grant.now, h.subject, h.token)
	if err != nil { // the service's 401 is what it comes to, and the caller can do something about it
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
			return resp, nil // the first answer is still one
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

// maxDiscarded is how much of an answer is read to keep its connection, in bytes, and drainTime for how long: the call goes on after that.
const (
	maxDiscarded = 4 << 10
	drainTime    = 50 * time.Millisecond
)

func discard(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= maxDiscarded {
		timer := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, maxDiscarded) // else the connection is not used again
		timer.Stop()
	}
	resp.Body.Close()
}
