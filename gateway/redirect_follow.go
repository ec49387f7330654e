package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"drawbridge/gateway/job"

	"drawbridge/gateway/origin"
)

// maxHops is how many redirects of one call are followed.
const maxHops = 5

// keepsMethod tells whether a redirect asks for the same request at another place: method and body stay (RFC 9110 sections 15.4.8, 15.4.9).
func keepsMethod(code int) bool {
	return code == http.StatusTemporaryRedirect || code == http.StatusPermanentRedirect
}

// transmit sends the request to the service, and again where follow_redirects lets an answer say where.
func (c *call) transmit(req *http.Request) (*http.Response, error) {
	resp, requests, err := c.plan.client.Send(req, c.plan.repeat, c.plan.patience)
	c.exchanged(req, resp, requests)
	if err == nil && c.plan.follow && keepsMethod(resp.StatusCode) {
		return c.goOn(req, resp)
	}
	return resp, err
}

// goOn goes where redirects of the service lead, as far as [call.hop] lets it. The request is the same but for its URL, so all that stands
// around a request stands around each: the guard, the credential for the origin, the place in the room, retries; and the deadline of the
// call is that of all. A redirect that is not followed is the answer.
func (c *call) goOn(req *http.Request, resp *http.Response) (*http.Response, error) {
	var at []*url.URL
	for keepsMethod(resp.StatusCode) {
		from := req.URL
		u, why := c.hop(from, resp)
		switch at = append(at, from); {
		case why != "":
		case len(at) > maxHops:
			why = fmt.Sprintf("%d were followed already", maxHops)
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
		if c.conditional(req) { // the validator is that of what is kept of another place
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
		if c.sentSecrets = nil; c.callRecord != nil { // a token may be another one now
			c.callRecord.redirects++
		}
		var requests int
		var err error
		req = next
		resp, requests, err = c.plan.client.Send(req, c.plan.repeat, c.plan.patience)
		c.exchanged(req, resp, requests)
		if c.plan.changes {
			c.g.answers.Changed(c.ctx, c.plan.source.group, u)
		}
		if err != nil {
			return nil, err
		}
	}
	// It is the answer of another place: what it says of places is meant from there, and it is not kept under the first (RFC 9111 section 4).
	if location := resp.Header.Get("Location"); location != "" {
		if u, err := req.URL.Parse(location); err == nil {
			resp.Header.Set("Location", u.String())
		}
	}
	resp.Header["Cache-Control"] = []string{"no-store"}
	return resp, nil
}

// conditional tells whether the request asks whether what is kept is still good, which no argument does.
func (c *call) conditional(req *http.Request) bool {
	return c.plan.cachePolicy != nil && !c.anew && req.Header.Get("If-None-Match")+req.Header.Get("If-Modified-Since") != ""
}

// hop returns the URL that a redirect leads to, or why it is not followed. Whoever writes Location decides where a request with the
// gateway's credential goes, and that need not be who wrote the service: an argument may stand in it. So it is a place of the same
// origin below the base URL of the operation, and none that another operation of the document stands for, which has rules of its own
// or is no tool at all.
func (c *call) hop(from *url.URL, resp *http.Response) (u *url.URL, why string) {
	location := resp.Header.Get("Location")
	switch p := c.plan; {
	case location == "":
		return nil, "it does not say where to"
	case p.condition != nil || p.asksUser():
		return nil, "the call was permitted as it was made"
	}
	if u, err := from.Parse(location); err == nil && u.Host != "" && !origin.Same(u, from) {
		return nil, "it leads to another origin"
	}
	b := &job.Handle{Origin: from, Base: c.plan.base}
	place := b.Resolve(location)
	if place == nil {
		return nil, "it leads to no place below the base URL of the API"
	}
	for _, other := range c.plan.at(c.plan.Operation.Method, place) {
		if other.operation != c.plan.Operation {
			return nil, "it leads to what another operation of the API is for"
		}
	}
	// Scheme and host are those of the request, as they are written there.
	own := *from
	own.Path, own.RawPath, own.RawQuery, own.ForceQuery = place.Path, place.RawPath, place.RawQuery, false
	return &own, ""
}
