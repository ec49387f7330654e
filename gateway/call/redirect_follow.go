package call

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"drawbridge/gateway/job"
	"drawbridge/gateway/render"
	"drawbridge/openapi/origin"
)

// maxRedirects is the maximum number of redirects that one call follows.
const maxRedirects = 5

// followRedirects follows redirects as far as [Call.redirectTarget] allows. Only the URL of the request changes, so everything that applies
// to one request applies to each: SSRF protection, the credential for the origin, the bulkhead, retries. The deadline
// of the call covers all of them. A redirect that is not followed is the answer.
func (c *Call) followRedirects(req *http.Request, resp *http.Response) (*http.Response, error) {
	var at []*url.URL
	for c.mayFollow(resp) {
		from := req.URL
		u, why := c.redirectTarget(from, resp)
		switch at = append(at, from); {
		case why != "":
		case !render.MayFollow(resp.StatusCode, req.Method):
			why = fmt.Sprintf("%d keeps neither the method nor the body of a request, so it is followed for GET and HEAD only", resp.StatusCode)
		case resp.StatusCode == http.StatusSeeOther && req.ContentLength != 0:
			why = "the request has a body, and 303 leads to a request without one"
		case len(at) > maxRedirects:
			why = fmt.Sprintf("%d were followed already", maxRedirects)
		case slices.ContainsFunc(at, func(been *url.URL) bool { return *been == *u }):
			why = "it leads back to where the request came from"
		case req.Body != nil && req.Body != http.NoBody && req.GetBody == nil:
			why = "the body of the request can't be sent again"
		}
		if why != "" {
			c.unfollowed = why
			return resp, nil
		}
		next := req.WithContext(req.Context())
		next.URL, next.Header = u, req.Header.Clone()
		if c.conditional(req) { // the validator belongs to the cached response of the original URL
			next.Header.Del("If-None-Match")
			next.Header.Del("If-Modified-Since")
		}
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return resp, nil //nolint:nilerr // the redirect is the answer
			}
			next.Body = body
		}
		_ = resp.Body.Close()
		c.sentSecrets = nil // the next request may carry another token
		c.out.Usage.Redirects++
		var err error
		req = next
		resp, err = c.transmitOnce(req, c.Plan.Retry)
		if c.Plan.InvalidatesCache {
			c.r.Cache.Changed(req.Context(), c.Plan.Source.CacheGroup, u)
		}
		if err != nil {
			return nil, err
		}
	}
	// The response belongs to another URL: relative locations resolve against that, and the response is not cached
	// under the first URL (RFC 9111 section 4).
	if location := resp.Header.Get("Location"); location != "" {
		if u, err := req.URL.Parse(location); err == nil {
			resp.Header.Set("Location", u.String())
		}
	}
	resp.Header["Cache-Control"] = []string{"no-store"}
	return resp, nil
}

// mayFollow reports whether a response is a redirect that the configuration has the gateway follow. A tool that reports on jobs has
// its own rules for a redirect to the result of a job.
func (c *Call) mayFollow(resp *http.Response) bool {
	return c.Plan.FollowsRedirects && render.IsRedirect(resp.StatusCode) && (c.Plan.PolledJob == nil || !job.IsElsewhere(resp.StatusCode))
}

// conditional reports whether the request validates a cached response. No argument sets these headers.
func (c *Call) conditional(req *http.Request) bool {
	return c.Plan.Cache != nil && c.Policy.Cache != Fresh && req.Header.Get("If-None-Match")+req.Header.Get("If-Modified-Since") != ""
}

// redirectTarget returns the target of a redirect, or the reason why it is not followed. The author of Location decides where a
// request with the gateway's credential goes, and need not be the author of the service: an argument may be part of it.
// The target must therefore have the same origin, be below the base URL of the operation, and not match another
// operation of the document, which has rules of its own or is not a tool at all.
func (c *Call) redirectTarget(from *url.URL, resp *http.Response) (u *url.URL, why string) {
	location := resp.Header.Get("Location")
	switch p := c.Plan; {
	case location == "":
		return nil, "it does not say where to"
	case p.Condition != nil || p.AsksUser() || p.Arguments.Fixes():
		return nil, "the call was permitted as it was made"
	}
	if u, err := from.Parse(location); err == nil && u.Host != "" && !origin.Same(u, from) {
		if u.Scheme != from.Scheme && u.Hostname() == from.Hostname() { // what base_url has wrong most often
			return nil, "it leads to another origin, by " + u.Scheme + " instead of " + from.Scheme
		}
		return nil, "it leads to another origin"
	}
	b := &job.Handle{Origin: from, Base: c.Plan.Base}
	target := b.Resolve(location)
	if target == nil {
		return nil, "it leads to no place below the base URL of the API"
	}
	for _, other := range c.Plan.ResponsesAt(c.Plan.Operation.Method, target) {
		if other.Operation != c.Plan.Operation {
			return nil, "it leads to what another operation of the API is for"
		}
	}
	// Scheme and host are those of the request, in its spelling.
	followed := *from
	followed.Path, followed.RawPath, followed.RawQuery, followed.ForceQuery = target.Path, target.RawPath, target.RawQuery, false
	return &followed, ""
}
