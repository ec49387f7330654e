package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// APIRequest is what the gateway adds to every request to the service of an API.
type APIRequest struct {
	// Headers by name, at most 32. Headers that the gateway sets, Authorization and those of credentials are not
	// allowed.
	Headers map[string]*RequestValue `yaml:"headers,omitempty" absent:"none" access:"joint: identity" count:"32 values"`
	// Query parameters by name, at most 32.
	Query map[string]*RequestValue `yaml:"query,omitempty" absent:"none" access:"joint: identity" count:"32 values"`
}

// validateRequest checks the names of the headers and query parameters that are added to the requests of an API.
func (a *API) validateRequest(c cursor) {
	r := a.Request
	if r == nil {
		return
	}
	for _, name := range readableNames(c, "headers", r.Headers) {
		at := join("headers", name)
		switch credential := a.authenticatedIn(name); {
		case !headerToken(name) || len(name) > 128:
			c.errorf(at, "%s is not a header name", quote(name))
		case credential != "":
			c.errorf(at, "%s is the header of %s", quote(name), credential)
		case sameHeader(name, "Authorization"), sameHeader(name, "Proxy-Authorization"):
			c.errorf(at, "%s is for credentials, which are set by credential", quote(name))
		case checkHeader(name) != nil:
			c.errorf(at, "%s: %s", quote(name), checkHeader(name))
		case sameHeaderBefore(name, r.Headers):
			c.errorf(at, "%s is set twice", quote(name))
		}
	}
	for _, name := range readableNames(c, "query", r.Query) {
		at := join("query", name)
		_, all := a.AllCredentials()
		switch {
		case name == "" || len(name) > 128 || strings.ContainsFunc(name, control):
			c.errorf(at, "%s is not the name of a query parameter", quote(name))
		case slices.ContainsFunc(all, func(cr *Credential) bool {
			in, of := cr.Location()
			return in == KeyInQuery && of == name
		}):
			c.errorf(at, "%s is the parameter of a credential", quote(name))
		case slices.ContainsFunc(all, func(cr *Credential) bool { return cr.Type == CredentialAWSSigV4 }) && strings.HasPrefix(strings.ToLower(name), "x-amz-"):
			c.errorf(at, "%s belongs to the signature of a credential", quote(name))
		}
	}
}

// readableNames returns the names of values that could be read, sorted.
func readableNames(c cursor, list string, values map[string]*RequestValue) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != nil && c.ok(join(list, name)) {
			names = append(names, name)
		}
	}
	return names
}

// sameHeaderBefore reports whether a name that comes before is the same header.
func sameHeaderBefore(name string, values map[string]*RequestValue) bool {
	for other := range values {
		if other < name && sameHeader(other, name) {
			return true
		}
	}
	return false
}

// RequestValue is the value of a header or of a query parameter. A text stands for a mapping with value alone.
type RequestValue struct {
	// The value.
	Value string `yaml:"value,omitempty" absent:"secret or claim" access:"joint: identity"`
	// The value, if it is a secret: it is redacted wherever answers are shown.
	Secret Secret `yaml:"secret,omitempty" absent:"value or claim" access:"joint: identity"`
	// The token claim whose value is sent: a name or a JSON Pointer. Calls without the claim are rejected. Needs
	// auth.issuers.
	Claim string `yaml:"claim,omitempty" absent:"value or secret" access:"joint: identity" is:"claim" issuers:"needs auth.issuers: without tokens no caller has claims"`
}

func (v *RequestValue) validate(c cursor) {
	given := 0
	for _, is := range []bool{v.Value != "", !v.Secret.IsZero(), v.Claim != ""} {
		if is {
			given++
		}
	}
	if given != 1 && !c.faulty("") {
		c.errorf("", "needs one of value, secret, claim")
		return
	}
	for name, text := range map[string]string{"value": v.Value, "secret": v.Secret.Reveal()} {
		if !c.given(name) {
			name = "" // a text stands for the mapping
		}
		if err := checkText(text); err != nil {
			c.errorf(name, "%s", err)
		}
		c.most(name, text, 8<<10)
	}
}

func (v *RequestValue) short() short {
	return short{value: &v.Value, expects: "a text, or a mapping with value, secret or claim", refuse: func(n *yaml.Node) string {
		if fileReference(n, "value") == "" {
			return ""
		}
		return fmt.Sprintf("has the content of a file, which may be a secret: write {secret: %q}", n.Value)
	}}
}

func (r *APIRequest) empty() bool { return r.IsZero() }

// IsZero reports whether nothing is added.
func (r *APIRequest) IsZero() bool { return r == nil || len(r.Headers)+len(r.Query) == 0 }

// Claims returns the claims whose values are sent, sorted. The receiver may be nil.
func (r *APIRequest) Claims() (names []string) {
	for _, v := range r.values() {
		if v.Claim != "" {
			names = append(names, v.Claim)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Sends reports whether every request has a header or query parameter of that name. The receiver may be nil.
func (r *APIRequest) Sends(in, name string) bool {
	switch {
	case r == nil:
		return false
	case in == "header":
		return r.header(name) != ""
	case in == "query":
		return r.Query[name] != nil
	}
	return false
}

// Secrets returns the secrets among the values. The receiver may be nil.
func (r *APIRequest) Secrets() (secrets []Secret) {
	for _, v := range r.values() {
		if !v.Secret.IsZero() {
			secrets = append(secrets, v.Secret)
		}
	}
	return secrets
}

func (r *APIRequest) values() (all []*RequestValue) {
	if r == nil {
		return nil
	}
	for _, list := range []map[string]*RequestValue{r.Headers, r.Query} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if list[name] != nil {
				all = append(all, list[name])
			}
		}
	}
	return all
}

// header returns the name under which a header is set, "" if it isn't.
func (r *APIRequest) header(name string) string {
	if r == nil {
		return ""
	}
	for _, own := range slices.Sorted(maps.Keys(r.Headers)) {
		if sameHeader(own, name) {
			return own
		}
	}
	return ""
}
