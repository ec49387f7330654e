package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/tree"
)

// ServicePath describes how the path of [CompileOptions].BaseURL is found if that URL is of a service whose
// registration doesn't name a path. Calls always go to the instances of the service, so only the path of the document's
// servers counts.
type ServicePath struct {
	// Own reports whether a host, host[:port] as in a URL, is the service itself: one of its instances, or the name
	// that represents them.
	Own func(host string) bool
	// Context is the path of the service according to the registration, such as that of a status page; "" if it has
	// none.
	Context string
	// Key is the setting by which a registration names the path, for problems; "" if it can't.
	Key string
}

// servicePath returns the base URL with the path of the first server that is relative or of the service itself. Without
// one, or if its path is empty, it is the context path, if the document was found below that and its own paths don't
// begin with it.
func (s *servers) servicePath(root *tree.Node, all []server) *url.URL {
	p := s.service
	path, other := "", (*otherServer)(nil)
	for _, candidate := range all {
		found, err := s.pathOf(candidate, p)
		if err == nil {
			path, other = found, nil
			break
		}
		if other == nil {
			other = &otherServer{candidate, err}
		}
	}
	if path == "" && s.isContext(root, p) {
		path, other = p.Context, nil
	}
	if other != nil {
		s.problems.at(other.at, codeServerPath, "%s; calls go to the root of the service's instances%s", other.err, other.advice(p))
	}
	return withPath(s.base, path)
}

// otherServer is a server whose path is not that of the service.
type otherServer struct {
	server
	err error
}

// advice returns the setting to write if the path of the server is that of the service after all.
func (o *otherServer) advice(p *ServicePath) string {
	u, err := url.Parse(o.url)
	if err != nil {
		return ""
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	switch {
	case path == "" || checkServicePath(path) != nil || strings.Contains(o.url, "{"):
		return ""
	case p.Key == "":
		return fmt.Sprintf("; if the service is at %s, make it an item of apis with a base_url that ends in %s", path, path)
	}
	return fmt.Sprintf("; if the service is at %s, set %s of its registration: %s", path, p.Key, path)
}

// pathOf returns the path of a server that is relative or of the service itself, without a trailing slash.
func (s *servers) pathOf(candidate server, p *ServicePath) (string, error) {
	text, _, err := s.expand(candidate)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		return "", fmt.Errorf("the server URL %.200q can't be parsed", text)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", fmt.Errorf("the server URL %.200q has more than scheme, host and path", u.Redacted())
	case u.Host != "" && !p.Own(u.Host):
		if strings.Trim(u.Path, "/") == "" {
			return "", nil // calls go to the root anyway
		}
		return "", fmt.Errorf("the server %.200q is not an instance of the service, so its path is not used", u.Redacted())
	case u.Host == "" && u.IsAbs():
		return "", fmt.Errorf("the server URL %.200q has no host", text)
	}
	path := u.EscapedPath()
	if u.Host == "" && path != "" && !strings.HasPrefix(path, "/") {
		if s.document == nil || !p.Own(s.document.Host) {
			return "", fmt.Errorf("the server URL %.200q is relative to a document that is not at the service", text)
		}
		path = s.document.ResolveReference(u).EscapedPath()
	}
	path = strings.TrimRight(path, "/")
	if err := checkServicePath(path); err != nil {
		return "", fmt.Errorf("the path of the server URL %.200q %w", text, err)
	}
	return path, nil
}

// isContext reports whether the context path is the path of the base URL, as far as the document indicates.
func (s *servers) isContext(root *tree.Node, p *ServicePath) bool {
	below := func(path string) bool { return path == p.Context || strings.HasPrefix(path, p.Context+"/") }
	if p.Context == "" || checkServicePath(p.Context) != nil || s.document == nil || !p.Own(s.document.Host) || !below(s.document.EscapedPath()) {
		return false
	}
	for path := range root.Get("paths").Members() {
		if strings.HasPrefix(path, "/") && !below(path) {
			return true
		}
	}
	return false
}

// checkServicePath refuses a path that could lead elsewhere: with dot segments, also encoded ones, encoded slashes, and
// characters that servers interpret differently.
func checkServicePath(path string) error {
	if path != "" && !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return errors.New("doesn't begin with one slash")
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		text, err := url.PathUnescape(segment)
		switch {
		case err != nil:
			return errors.New("is not percent-encoded")
		case text == "." || text == "..":
			return errors.New("has dot segments")
		case strings.ContainsAny(text, `/\;`) || strings.ContainsFunc(text, unicode.IsControl):
			return fmt.Errorf("has a segment that can't be used: %.80q", segment)
		}
	}
	return nil
}

// withPath returns the URL with an escaped path, which was checked.
func withPath(base *url.URL, escaped string) *url.URL {
	u := *base
	u.Path, u.RawPath = "", ""
	if escaped == "" {
		return &u
	}
	if parsed, err := url.Parse(escaped); err == nil {
		u.Path, u.RawPath = parsed.Path, parsed.RawPath
	}
	return &u
}

// IsLocal reports whether a host of a server URL, host[:port], is the service's own machine: a local address, as
// frameworks write it that don't know another.
func IsLocal(host string) bool {
	u := url.URL{Host: host}
	return origin.Loopback(u.Hostname()) || u.Hostname() == "0.0.0.0" || u.Hostname() == "::"
}
