package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// ownServers are the properties of the document's servers as a whole that are relevant for those of its operations.
type ownServers struct {
	origins map[origin.Origin]bool
	first   origin.Origin   // the zero Origin if no server has one
	urls    map[string]bool // by serverKey
	// templates and authorities are those of servers with a variable without a value, which the base URL replaces as
	// well.
	templates, authorities map[string]bool
}

// learn reads the servers of the document as a whole.
func (o *ownServers) learn(s *servers, all []server) {
	*o = ownServers{origins: map[origin.Origin]bool{}, urls: map[string]bool{}, templates: map[string]bool{}, authorities: map[string]bool{}}
	for _, candidate := range all {
		u, _, err := s.absolute(candidate)
		var unset *variableError
		if errors.As(err, &unset) {
			o.templates[strings.TrimRight(candidate.url, "/")] = true
			authority, _ := splitAuthority(candidate.url)
			o.authorities[authority] = true
		}
		if err != nil {
			continue
		}
		if at, ok := origin.Of(u); ok && checkForm(u) == nil {
			o.origins[at], o.urls[serverKey(at, u)] = true, true
			if o.first == (origin.Origin{}) && u.Host != unknownHost {
				o.first = at
			}
		}
	}
}

// serverKey is equal for two URLs that are the same base URL.
func serverKey(at origin.Origin, u *url.URL) string {
	return at.String() + strings.TrimRight(u.EscapedPath(), "/")
}

// splitAuthority splits the template of a server URL before its path.
func splitAuthority(template string) (authority, path string) {
	start := 0
	if i := strings.Index(template, "://"); i >= 0 {
		start = i + len("://")
	}
	if i := strings.IndexByte(template[start:], '/'); i >= 0 {
		return template[:start+i], template[start+i:]
	}
	return template, ""
}

// otherOriginError is the error of an operation's server on an origin that calls may not go to.
type otherOriginError struct {
	server *url.URL
	at     origin.Origin
	own    []string // origins that calls may go to
}

func (e *otherOriginError) Error() string {
	text := fmt.Sprintf("its server %s is on another origin than the API", e.server.Redacted())
	if len(e.own) > 0 {
		text += " (" + strings.Join(e.own, ", ") + ")"
	}
	return fmt.Sprintf("%s, and is not listed in allow_servers; to serve the operation, write allow_servers: [%q]", text, e.at)
}

// resolveOwn returns the target of an operation whose nearest server is not one of the document as a whole.
func (s *servers) resolveOwn(candidate server) (*url.URL, error) {
	if candidate.at.Get("url") == nil {
		return nil, errors.New("the server has no url")
	}
	if s.own.templates[strings.TrimRight(candidate.url, "/")] && s.base != nil {
		return s.base, nil
	}
	u, relative, err := s.absolute(candidate)
	if unset := (*variableError)(nil); errors.As(err, &unset) && s.base != nil {
		if authority, path := splitAuthority(candidate.url); s.own.authorities[authority] {
			candidate.url = path
			u, relative, err = s.absolute(candidate)
		}
	}
	if err != nil {
		return nil, err
	}
	check := checkBase
	if at, ok := origin.Of(u); s.base != nil && (relative || ok && s.own.origins[at] || s.isHere(u)) {
		check = checkForm
	}
	if err := check(u); err != nil {
		return nil, fmt.Errorf("the server URL %q %w", u.Redacted(), err)
	}
	at, ok := origin.Of(u)
	switch {
	case !ok:
		return nil, fmt.Errorf("the server URL %q has no origin that can be called", u.Redacted())
	case s.base != nil && s.own.urls[serverKey(at, u)]:
		return s.base, nil
	case s.base != nil && (relative || s.own.origins[at] || s.isHere(u)):
		moved := *s.base
		moved.Path, moved.RawPath = u.Path, u.RawPath
		return &moved, nil
	case s.allowed[at], s.base == nil && s.isOwn(u, at):
		return u, nil
	}
	return nil, &otherOriginError{u, at, s.ownOrigins()}
}

// isHere reports whether a server is that of the base URL, or an instance of its service.
func (s *servers) isHere(u *url.URL) bool {
	return origin.Same(u, s.base) || s.service != nil && s.service.Own(u.Host)
}

// isOwn reports whether, without a base URL, an origin is that of the document: of its URL, or for a file those of its
// servers. A file without any has no origin that others could differ from, and gets no credential.
func (s *servers) isOwn(u *url.URL, at origin.Origin) bool {
	if s.document != nil {
		return origin.Same(u, s.origin)
	}
	return len(s.own.origins) == 0 || s.own.origins[at]
}

// ownOrigins lists the origins that calls may go to without being explicitly allowed, for errors.
func (s *servers) ownOrigins() (all []string) {
	add := func(at origin.Origin, ok bool) {
		if text := at.String(); ok && text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if s.base != nil {
		add(origin.Of(s.base))
	} else if s.document != nil {
		add(origin.Of(s.origin))
		return all
	}
	add(s.own.first, true)
	return all
}

// unknownHost is the host of a file's URL, which is never called (RFC 6761 section 6.4).
const unknownHost = "document.invalid"

// absolute returns the URL of a server with the values of its variables, resolved against the document, without dot
// segments. relative reports whether the document gave no host. With a base URL, a file has a URL, too, since its host
// isn't used.
func (s *servers) absolute(candidate server) (u *url.URL, relative bool, err error) {
	text, empty, err := s.expand(candidate)
	if err != nil {
		return nil, false, err
	}
	if u, err = url.Parse(text); err != nil {
		return nil, false, fmt.Errorf("the server URL %q can't be parsed", text)
	}
	document := s.document
	if document == nil && s.base != nil {
		document = &url.URL{Scheme: "https", Host: unknownHost, Path: "/"}
	}
	switch {
	case u.IsAbs() && u.Host != "":
		return (&url.URL{}).ResolveReference(u), false, nil
	case document == nil && candidate.missing:
		return nil, false, errors.New("the document names no server")
	case empty != "" && (document == nil || u.IsAbs()):
		return nil, false, &variableError{text: fmt.Sprintf("the variable %q of the server URL %q is empty", empty, candidate.url)}
	case document == nil:
		return nil, false, fmt.Errorf("the server URL %q is relative, and the document was read from a file", text)
	}
	relative = !u.IsAbs() && u.Host == ""
	if text == "" { // it would be the document itself, which has no paths below it
		u = &url.URL{Path: "/"}
	}
	return document.ResolveReference(u), relative, nil
}
