package authtest

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Limits on requests.
const (
	maxForm  = 64 << 10
	maxQuery = 16 << 10
)

// parameters are the parameters of a request. Each has at most one value (RFC 6749 sections 3.1 and
// 3.2), except for resource (RFC 8707 section 2) and audience (RFC 8693 section 2.1). An empty one
// counts as absent.
type parameters url.Values

func (p parameters) get(name string) string { return url.Values(p).Get(name) }

// all returns the values of a repeatable parameter.
func (p parameters) all(name string) []string { return p[name] }

// check returns a problem if a parameter is duplicated.
func (p parameters) check() *problem {
	for _, name := range sortedKeys(p) {
		if len(p[name]) > 1 && name != "resource" && name != "audience" {
			return newProblem(invalidRequest, "parameter '%s' stands there %d times", name, len(p[name]))
		}
	}
	return nil
}

// clean drops empty values.
func clean(v url.Values) parameters {
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
	return parameters(v)
}

// readForm reads the parameters of a POST. Parameters in the query are rejected, as they would end
// up in logs.
func readForm(w http.ResponseWriter, r *http.Request) (parameters, *problem) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, newProblem(invalidRequest, "the body has to be application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if r.ParseForm() != nil {
		return nil, newProblem(invalidRequest, "the body is not a form of at most %d bytes", maxForm)
	}
	form := clean(r.PostForm)
	return form, form.check()
}

// readScopes splits a scope parameter (RFC 6749 section 3.3) and removes duplicates.
func readScopes(list string) ([]string, *problem) {
	var scopes []string
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(list, " ") {
		if name == "" {
			continue
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return nil, newProblem(invalidScope, "'%s' is not a scope", name)
		}
		if !seen[name] {
			seen[name] = true
			scopes = append(scopes, name)
		}
	}
	return scopes, nil
}
