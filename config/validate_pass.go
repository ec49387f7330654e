package config

import (
	"fmt"
	"slices"
)

// passHeaders checks the headers of the caller that go on to the service.
func (l *loader) passHeaders(key string, api *API) {
	for i, h := range api.PassHeaders {
		k := fmt.Sprintf("%s.pass_headers[%d]", key, i)
		from, to := k, k
		if h.credential {
			from, to = k+".from", k+".to"
		}
		if !l.ok(k, from, to) {
			continue
		}
		if h.credential {
			l.passedCredential(from, to, h)
		}
		switch c := api.sentIn(h.To); {
		case !l.ok(to):
		case !headerToken(h.To):
			l.errorf(to, "%s is not a header name", quote(h.To))
		case slices.ContainsFunc(api.PassHeaders[:i], func(other PassedHeader) bool { return sameHeader(other.To, h.To) }):
			l.errorf(to, "%s is listed twice", quote(h.To))
		case c != "":
			l.errorf(to, "%s is the header of %s", quote(h.To), c)
		}
	}
}

// passedCredential checks the names of a header that has the caller's own credential. Which others can't be passed on is for those
// who do it to say.
func (l *loader) passedCredential(from, to string, h PassedHeader) {
	if !headerToken(h.From) {
		l.errorf(from, "%s is not a header name", quote(h.From))
	}
	for _, name := range []string{"Authorization", "DPoP", "Cookie"} {
		if sameHeader(name, h.From) && l.ok(from) {
			l.errorf(from, "can't be %s: callers prove themselves to the gateway with it", name)
		}
	}
	if sameHeader("Cookie", h.To) {
		l.errorf(to, "can't be Cookie: the credential must have a header of its own")
	}
}
