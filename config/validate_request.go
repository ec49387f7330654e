package config

import (
	"maps"
	"slices"
	"strings"
)

// maxRequestValues is the maximum number of headers and of query parameters that are added to requests.
const maxRequestValues = 32

// request checks the headers and query parameters that are added to the requests of an API.
func (l *loader) request(cfg *Config, key string, api *API) {
	r := api.Request
	if r == nil || !l.ok(key) {
		return
	}
	if r.IsZero() && !l.faulty(key) {
		l.errorf(key, "is empty; leave it out")
	}
	for _, name := range l.requestNames(key+".headers", r.Headers) {
		at := join(key+".headers", name)
		switch c := api.authenticatedIn(name); {
		case !headerToken(name) || len(name) > 128:
			l.errorf(at, "%s is not a header name", quote(name))
		case c != "":
			l.errorf(at, "%s is the header of %s", quote(name), c)
		case sameHeader(name, "Authorization"), sameHeader(name, "Proxy-Authorization"):
			l.errorf(at, "%s is for credentials, which are set by credential", quote(name))
		case checkHeader(name) != nil:
			l.errorf(at, "%s: %s", quote(name), checkHeader(name))
		case l.sameHeaderBefore(name, r.Headers):
			l.errorf(at, "%s is set twice", quote(name))
		}
		l.requestValue(cfg, at, r.Headers[name])
	}
	for _, name := range l.requestNames(key+".query", r.Query) {
		at := join(key+".query", name)
		_, all := api.AllCredentials()
		switch {
		case name == "" || len(name) > 128 || strings.ContainsFunc(name, control):
			l.errorf(at, "%s is not the name of a query parameter", quote(name))
		case slices.ContainsFunc(all, func(c *Credential) bool { return c.Type == CredentialAPIKey && c.In == KeyInQuery && c.Name == name }):
			l.errorf(at, "%s is the parameter of a credential", quote(name))
		case slices.ContainsFunc(all, func(c *Credential) bool { return c.Type == CredentialAWSSigV4 }) && strings.HasPrefix(strings.ToLower(name), "x-amz-"):
			l.errorf(at, "%s belongs to the signature of a credential", quote(name))
		}
		l.requestValue(cfg, at, r.Query[name])
	}
}

// requestNames returns the names of the values that can be checked, sorted.
func (l *loader) requestNames(key string, values map[string]*RequestValue) (names []string) {
	if len(values) > maxRequestValues {
		l.errorf(key, "has %d values, more than %d", len(values), maxRequestValues)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != nil && l.ok(join(key, name)) {
			names = append(names, name)
		}
	}
	return names
}

// sameHeaderBefore reports whether a name that comes before is the same header.
func (l *loader) sameHeaderBefore(name string, values map[string]*RequestValue) bool {
	for other := range values {
		if other < name && sameHeader(other, name) {
			return true
		}
	}
	return false
}

func (l *loader) requestValue(cfg *Config, key string, v *RequestValue) {
	given := 0
	for _, is := range []bool{v.Value != "", !v.Secret.IsZero(), v.Claim != ""} {
		if is {
			given++
		}
	}
	if given != 1 && !l.faulty(key) {
		l.errorf(key, "needs one of value, secret, claim")
		return
	}
	for field, text := range map[string]string{"value": v.Value, "secret": v.Secret.Reveal()} {
		at := key + "." + field
		if !l.given(at) {
			at = key
		}
		if err := checkText(text); err != nil {
			l.errorf(at, "%s", err)
		}
		l.most(at, text, 8<<10)
	}
	l.claim(cfg, key+".claim", v.Claim)
}
