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
func (c *Call) cacheName(req *http.Request) cache.Name {
	k := c.Plan.Cache
	sent := HeaderDigest(req.Header)
	n := cache.Name{Group: k.Group, Variant: k.Variant + string(sent[:])}
	if !k.Rule.Shared {
		n.Owner = c.Caller.ID
	}
	if c.Plan.Personal && c.Caller.Principal != nil {
		// A service that knows the caller may answer by the scopes of the token.
		scopes := slices.Clone(c.Caller.Principal.Scopes)
		slices.Sort(scopes)
		token := sha256.Sum256([]byte(joined(c.Caller.Principal.Issuer, c.Caller.Principal.Subject, c.Caller.Principal.ClientID, strings.Join(slices.Compact(scopes), " "))))
		n.Variant += string(token[:])
	}
	if c.Plan.Source.Config.Exchanges() { // each token of one user may be exchanged for another, such as one of another tenant
		token := sha256.Sum256([]byte(strings.Join(c.Caller.Header.Values("Authorization"), "\x00")))
		n.Variant += string(token[:])
	}
	for _, claim := range c.Plan.Claims { // of the headers and parameters that are added to the request
		value := sha256.Sum256(c.Caller.Principal.Claim(claim))
		n.Variant += string(value[:])
	}
	if c.Plan.PassesHeaders {
		passed := HeaderDigest(c.Plan.PassedHeaders(c.Caller.Header))
		n.Variant += string(passed[:])
	}
	return n
}

// fetch sends the request, or answers it from the cache; then start is zero. The error is that of the service, or a [replyError].
func (c *Call) fetch(ctx context.Context, req *http.Request) (*http.Response, error) {
	k := c.Plan.Cache
	personal := c.Plan.Account() != nil // the user may connect another account of the service
	if k == nil || personal || c.Policy.Cache == Fresh || c.Endpoint.Guard != nil && c.Caller.ID == "" {
		if err := logRequest(c.Client, c.Plan.Operation); err != nil {
			return nil, replyError{err}
		}
		resp, err := c.transmit(req)
		if c.Plan.InvalidatesCache {
			c.invalidateChanged(ctx, resp, err)
		}
		return resp, err
	}
	rule := &k.Rule
	if c.sent != nil || c.Plan.Failure != nil {
		own := k.Rule
		own.Whole = func(head http.Header, body []byte) bool {
			return (c.sent == nil || c.isFreeOfSecrets(head, body)) && (c.Plan.Failure == nil || c.isNoFailure(ctx, body))
		}
		rule = &own
	}
	var unheard error
	resp, o, err := c.r.Cache.Do(req, c.cacheName(req), rule, func(req *http.Request) (*http.Response, error) {
		if unheard = logRequest(c.Client, c.Plan.Operation); unheard != nil {
			return nil, unheard
		}
		return c.transmit(req)
	})
	if c.span != nil {
		c.span.SetAttributes(attribute.String("drawbridge.cache", string(o)))
	}
	c.out.Usage.Cache = string(o)
	var e *upstream.Error
	switch {
	case err == nil:
		if o == cache.Hit || o == cache.Shared {
			c.start = time.Time{}
		}
		return resp, nil
	case unheard != nil:
		return nil, replyError{unheard}
	case req.Context().Err() != nil && !errors.As(err, &e): // the context ended while waiting for the same request of another call
		kind := upstream.Canceled
		if errors.Is(req.Context().Err(), context.DeadlineExceeded) {
			kind = upstream.Timeout
		}
		err = &upstream.Error{Kind: kind, API: c.Plan.Tool.API, Err: fmt.Errorf("wait for the answer to the same request: %w", err)}
	}
	return nil, err
}

// isFreeOfSecrets reports whether a response is free of the secrets that this call attached to its request. A response
// that repeats a token is not cached: a later recipient has not sent the token, so its redactor would not know it.
func (c *Call) isFreeOfSecrets(head http.Header, body []byte) bool {
	sent := c.Redactor().Sent
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

// invalidateChanged invalidates cached responses after a call that may have changed something (RFC 9111 section 4.4), unless the
// service refused the request or never received it. resp is nil if there was no response.
func (c *Call) invalidateChanged(ctx context.Context, resp *http.Response, err error) {
	var e *upstream.Error
	if err != nil && (!errors.As(err, &e) || e.NotSent()) || resp != nil && resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return
	}
	at := []*url.URL{c.target}
	if resp != nil {
		for _, name := range []string{"Location", "Content-Location"} {
			u, err := c.target.Parse(resp.Header.Get(name))
			if err == nil && origin.Same(u, c.target) && resp.Header.Get(name) != "" {
				at = append(at, u)
			}
		}
	}
	c.r.Cache.Changed(ctx, c.Plan.Source.CacheGroup, at...)
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
