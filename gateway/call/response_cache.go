package call

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"drawbridge/gateway/cache"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/origin"
)

// joined returns one text of several, from which they can be told apart again.
func joined(parts ...string) string {
	var b []byte
	for _, part := range parts {
		b = append(strconv.AppendQuote(b, part), ' ')
	}
	return string(b)
}

// cacheName returns the cache key of the call's request. It covers everything that the gateway sends except the values that
// it attaches itself, which follow from the operation's credential, or from the caller.
func (x *exchange) cacheName(req *http.Request) cache.Name {
	k := x.Plan.Cache
	sent := HeaderDigest(req.Header)
	n := cache.Name{Group: k.Group, Variant: k.Variant + string(sent[:])}
	if !k.Rule.Shared {
		n.Owner = x.Request.Principal
	}
	if x.Plan.Personal && x.Caller != nil {
		// A service that knows the caller may answer by the scopes of the token.
		scopes := slices.Clone(x.Caller.Scopes)
		slices.Sort(scopes)
		token := sha256.Sum256([]byte(joined(x.Caller.Issuer, x.Caller.Subject, x.Caller.ClientID, strings.Join(slices.Compact(scopes), " "))))
		n.Variant += string(token[:])
	}
	if x.Plan.Source.Config.Exchanges() { // each token of one user may be exchanged for another, such as one of another tenant
		token := sha256.Sum256([]byte(strings.Join(x.Request.HTTP.Header.Values("Authorization"), "\x00")))
		n.Variant += string(token[:])
	}
	for _, claim := range x.Plan.Claims { // of the headers and parameters that are added to the request
		value := sha256.Sum256(x.Caller.Claim(claim))
		n.Variant += string(value[:])
	}
	if x.Plan.PassesHeaders {
		passed := HeaderDigest(x.Plan.PassedHeaders(x.Request.HTTP.Header))
		n.Variant += string(passed[:])
	}
	return n
}

// fetch sends the request, or answers it from the cache; then start is zero. The error is that of the service, or a [replyError].
func (x *exchange) fetch(ctx context.Context, req *http.Request) (*http.Response, error) {
	k := x.Plan.Cache
	if k == nil || x.bypassCache || x.Endpoint.Guard != nil && x.Request.Principal == "" {
		if err := logRequest(x.reply, x.Plan.Operation); err != nil {
			return nil, replyError{err}
		}
		resp, err := x.transmit(req)
		if x.Plan.InvalidatesCache {
			x.invalidateChanged(ctx, resp, err)
		}
		return resp, err
	}
	rule := &k.Rule
	if x.sent != nil || x.Plan.Failure != nil {
		own := k.Rule
		own.Whole = func(head http.Header, body []byte) bool {
			return (x.sent == nil || x.isFreeOfSecrets(head, body)) && (x.Plan.Failure == nil || x.isNoFailure(ctx, body))
		}
		rule = &own
	}
	var unheard error
	resp, o, err := x.r.Cache.Do(req, x.cacheName(req), rule, func(req *http.Request) (*http.Response, error) {
		if unheard = logRequest(x.reply, x.Plan.Operation); unheard != nil {
			return nil, unheard
		}
		return x.transmit(req)
	})
	if x.span != nil {
		x.span.SetAttributes(attribute.String("drawbridge.cache", string(o)))
	}
	if x.record != nil {
		x.record.cache = string(o)
	}
	var e *upstream.Error
	switch {
	case err == nil:
		if o == cache.Hit || o == cache.Shared {
			x.start = time.Time{}
		}
		return resp, nil
	case unheard != nil:
		return nil, replyError{unheard}
	case req.Context().Err() != nil && !errors.As(err, &e): // the context ended while waiting for the same request of another call
		kind := upstream.Canceled
		if errors.Is(req.Context().Err(), context.DeadlineExceeded) {
			kind = upstream.Timeout
		}
		err = &upstream.Error{Kind: kind, API: x.Plan.Tool.API, Err: fmt.Errorf("wait for the answer to the same request: %w", err)}
	}
	return nil, err
}

// isFreeOfSecrets reports whether a response is free of the secrets that this call attached to its request. A response
// that repeats a token is not cached: a later recipient has not sent the token, so its redactor would not know it.
func (x *exchange) isFreeOfSecrets(head http.Header, body []byte) bool {
	sent := x.redactor().Sent
	if sent == nil {
		return true
	}
	for _, values := range head {
		if slices.ContainsFunc(values, func(v string) bool { return sent.Text(v) != v }) {
			return false
		}
	}
	return !sent.In(body)
}

// Invalidate makes cached responses to the request of a call stale, because a poll has found a newer one.
func (x *exchange) Invalidate(ctx context.Context) {
	if x.Plan.Cache != nil {
		x.r.Cache.Changed(ctx, x.Plan.Source.CacheGroup, x.target)
	}
}

// invalidateChanged invalidates cached responses after a call that may have changed something (RFC 9111 section 4.4), unless the
// service refused the request or never received it. resp is nil if there was no response.
func (x *exchange) invalidateChanged(ctx context.Context, resp *http.Response, err error) {
	var e *upstream.Error
	if err != nil && (!errors.As(err, &e) || e.NotSent()) || resp != nil && resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return
	}
	at := []*url.URL{x.target}
	if resp != nil {
		for _, name := range []string{"Location", "Content-Location"} {
			u, err := x.target.Parse(resp.Header.Get(name))
			if err == nil && origin.Same(u, x.target) && resp.Header.Get(name) != "" {
				at = append(at, u)
			}
		}
	}
	x.r.Cache.Changed(ctx, x.Plan.Source.CacheGroup, at...)
}

// HeaderDigest returns a digest that identifies headers.
func HeaderDigest(h http.Header) [32]byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(h)) {
		b = append(strconv.AppendQuote(b, name), ':')
		for _, value := range h[name] {
			b = append(strconv.AppendQuote(b, value), ',')
		}
	}
	return sha256.Sum256(b)
}
