package endpoint

import (
	"net/http"
	"net/url"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/plan"
)

// publicURLs are the URLs by which clients reach the gateway. The Host of a request chooses one of them. Headers of
// a proxy don't: a sender of X-Forwarded-Host could choose where clients log in (T3). It is immutable.
type publicURLs struct {
	byHost map[string]int // values of the Host header
	paths  []string       // of the URLs, without a slash at the end
}

func newPublicURLs(c *config.Config) publicURLs {
	urls := publicURLs{byHost: c.PublicURLsByHost()}
	for _, text := range c.PublicURLs() {
		path := ""
		if u, err := url.Parse(text); err == nil {
			path = u.Path
		}
		urls.paths = append(urls.paths, strings.TrimRight(path, "/"))
	}
	return urls
}

// of returns the index of the URL with the Host of a request; 0, the main one, if none has it.
func (u *publicURLs) of(r *http.Request) int {
	if len(u.paths) < 2 {
		return 0
	}
	return u.byHost[strings.ToLower(r.Host)]
}

// path returns the escaped path of the public URL with the Host of a request.
func (u *publicURLs) path(r *http.Request) string {
	if len(u.paths) == 0 {
		return ""
	}
	return (&url.URL{Path: u.paths[u.of(r)]}).EscapedPath()
}

// withoutPath returns a request for a path below that of its public URL as the request for the route, which a proxy that
// strips the path would have sent; other requests as they are.
func (u *publicURLs) withoutPath(r *http.Request) *http.Request {
	if len(u.paths) == 0 {
		return r
	}
	prefix := u.paths[u.of(r)]
	if prefix == "" || r.URL.RawPath != "" {
		return r
	}
	rest, below := strings.CutPrefix(r.URL.Path, prefix)
	if !below || !isRoute(rest) {
		return r
	}
	own, target := *r, *r.URL
	target.Path = rest
	own.URL = &target
	return &own
}

// isRoute reports whether a path is one of the routes of the listener or below one.
func isRoute(path string) bool {
	if path == "/" {
		return true
	}
	for _, route := range append([]string{"/mcp", legacyStreamPath, legacyMessagesPath, "/.well-known", "/manifest", strings.TrimSuffix(plan.CallbackPath, "/")}, registrationPaths...) {
		if rest, ok := strings.CutPrefix(path, route); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
