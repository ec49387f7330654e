package oauthserver

import (
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Limits on requests, in bytes.
const (
	MaxForm  = 64 << 10
	MaxQuery = 16 << 10
)

// Parameters are those of a request, from its query or its form. Each has at most one value (RFC 6749 sections 3.1 and
// 3.2), except for resource (RFC 8707 section 2) and audience (RFC 8693 section 2.1). An empty one
// counts as absent.
type Parameters url.Values

// Get returns the value of a parameter; "" if there is none.
func (p Parameters) Get(name string) string { return url.Values(p).Get(name) }

// All returns the values of a repeatable parameter.
func (p Parameters) All(name string) []string { return p[name] }

// Check returns an error if a parameter that must have one value has several.
func (p Parameters) Check() *Error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if len(p[name]) > 1 && name != "resource" && name != "audience" {
			return NewError(InvalidRequest, "parameter '%s' stands there %d times", name, len(p[name]))
		}
	}
	return nil
}

// WithoutEmpty removes empty values from v, and returns it.
func WithoutEmpty(v url.Values) Parameters {
	for name, values := range v {
		var full []string
		for _, value := range values {
			if value != "" {
				full = append(full, value)
			}
		}
		if full == nil {
			delete(v, name)
		} else {
			v[name] = full
		}
	}
	return Parameters(v)
}

// ReadForm reads the form of a POST. Parameters in the query are rejected, as they would end
// up in logs.
func ReadForm(w http.ResponseWriter, r *http.Request) (Parameters, *Error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, NewError(InvalidRequest, "the body has to be application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, MaxForm)
	if r.ParseForm() != nil {
		return nil, NewError(InvalidRequest, "the body is not a form of at most %d bytes", MaxForm)
	}
	form := WithoutEmpty(r.PostForm)
	return form, form.Check()
}

// ReadScopes splits a scope parameter (RFC 6749 section 3.3) and removes duplicates.
func ReadScopes(list string) ([]string, *Error) {
	var scopes []string
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(list, " ") {
		if name == "" {
			continue
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return nil, NewError(InvalidScope, "'%s' is not a scope", name)
		}
		if !seen[name] {
			seen[name] = true
			scopes = append(scopes, name)
		}
	}
	return scopes, nil
}
