package openapi

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"drawbridge/gateway/origin"
	"drawbridge/openapi/tree"
)

// servers decides where calls go (S7).
type servers struct {
	base     *url.URL // from the configuration: wins over everything
	document *url.URL // of a document that was fetched, else nil
	origin   *url.URL // that may be called then
	allowed  map[origin.Origin]bool
	values   map[string]string // of variables, from the configuration
	problems *problems
	swagger  *tree.Node // the root of a document of 2.0, else nil

	root        *url.URL // of operations that name no server
	rootProblem string
	known       sync.Map // *tree.Node of a list → usable: operations share them
}

// usable is the server that calls go to, or why there is none.
type usable struct {
	url     *url.URL
	problem string
}

func newServers(d *Document, o CompileOptions, ps *problems) (*servers, error) {
	s := &servers{base: o.BaseURL, document: d.url, origin: d.origin, allowed: make(map[origin.Origin]bool), values: o.ServerVariables, problems: ps}
	for _, a := range o.AllowServers {
		at, ok := origin.Parse(a)
		if !ok {
			return nil, fmt.Errorf("allowed server %q is not an origin such as https://api.example.com", a)
		}
		s.allowed[at] = true
	}
	if s.base != nil {
		if o.ServicePath != nil {
			s.base = s.servicePath(d.set.Root(), d.dialect == swagger2, o.ServicePath)
		}
		return s, nil
	}
	root := d.set.Root()
	switch list := root.Get("servers"); {
	case d.dialect == swagger2:
		s.swagger = root
		s.root, s.rootProblem = s.first(root, s.swagger2(root, root.Get("schemes")))
	case list.Len() > 0:
		s.root, s.rootProblem = s.list(list)
	default:
		// OAS: the default is one server with the URL "/".
		s.root, s.rootProblem = s.first(root, []server{{at: root, url: "/", missing: true}})
	}
	return s, nil
}

// of returns where calls of an operation go, or why that isn't known. The nearest list of servers counts: operation,
// path item, document (OAS operation object, servers).
func (s *servers) of(f found) (*url.URL, string) {
	if s.base != nil {
		return s.base, ""
	}
	if s.swagger != nil && f.node.Get("schemes").Len() > 0 { // OAS 2.0 operation object, schemes: they replace those of the document
		return s.first(f.node.Get("schemes"), s.swagger2(s.swagger, f.node.Get("schemes")))
	}
	for _, list := range []*tree.Node{f.node.Get("servers"), f.item.Get("servers")} {
		if list.Len() == 0 {
			continue
		}
		if known, ok := s.known.Load(list); ok {
			if u, ok := known.(usable); ok {
				return u.url, u.problem
			}
		}
		var u usable
		u.url, u.problem = s.list(list)
		s.known.Store(list, u)
		return u.url, u.problem
	}
	return s.root, s.rootProblem
}

// A server is one candidate, its variables not yet replaced.
type server struct {
	at        *tree.Node
	url       string
	variables *tree.Node
	missing   bool // the document names none
}

func (s *servers) list(list *tree.Node) (*url.URL, string) {
	var all []server
	for _, n := range list.Items() {
		all = append(all, server{at: n, url: strings.TrimSpace(n.Get("url").Text()), variables: n.Get("variables")})
	}
	return s.first(list, all)
}

// swagger2 makes servers of schemes, host and basePath; https comes first, whatever the order of schemes.
func (s *servers) swagger2(root, schemeList *tree.Node) []server {
	host, path := root.Get("host").Text(), root.Get("basePath").Text()
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if host == "" {
		return []server{{at: root, url: path + "/", missing: true}}
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "http://") // seen in the wild
	at := root.Get("host")
	var http, https bool // there may be many thousands
	for _, n := range schemeList.Items() {
		http, https = http || strings.EqualFold(n.Text(), "http"), https || strings.EqualFold(n.Text(), "https")
	}
	var schemes []string
	if https {
		schemes = append(schemes, "https")
	}
	if http {
		schemes = append(schemes, "http")
	}
	switch {
	case len(schemes) > 0:
	case s.document != nil:
		schemes = []string{s.document.Scheme} // OAS 2.0: the default is the scheme that the document came by
	default:
		schemes = []string{"https"}
	}
	var all []server
	for _, scheme := range schemes {
		all = append(all, server{at: at, url: scheme + "://" + host + path})
	}
	return all
}

// first returns the first server that may be used, or the reason why the first of all may not.
func (s *servers) first(at *tree.Node, all []server) (*url.URL, string) {
	var problem string
	for _, candidate := range all {
		u, err := s.resolve(candidate)
		if err == nil {
			return u, ""
		}
		if problem == "" {
			at, problem = candidate.at, err.Error()+advice(candidate, err)
		}
	}
	s.problems.at(at, codeServer, "%s%s", unusableServer, problem)
	return nil, problem
}

// advice tells what to do about a server that can't be used.
func advice(candidate server, err error) string {
	var v *variableError
	switch {
	case candidate.missing: // so it may be that the document is all that there is
		return "; a configuration file with spec and base_url has to name it"
	case errors.As(err, &v):
		return "; set it in server_variables, or set base_url for this API"
	default:
		return "; set base_url for this API"
	}
}

func (s *servers) resolve(candidate server) (*url.URL, error) {
	text, empty, err := s.expand(candidate)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the server URL %q can't be parsed", text)
	}
	if !u.IsAbs() || u.Host == "" {
		switch {
		case s.document == nil && candidate.missing:
			return nil, errors.New("the document names no server")
		case empty != "" && (s.document == nil || u.IsAbs()):
			return nil, &variableError{fmt.Sprintf("the variable %q of the server URL %q is empty", empty, candidate.url)}
		case s.document == nil:
			return nil, fmt.Errorf("the server URL %q is relative, and the document was read from a file", text)
		}
		u = s.document.ResolveReference(u)
	}
	if err := checkBase(u); err != nil {
		return nil, fmt.Errorf("the server URL %q %w", u.Redacted(), err)
	}
	if s.document == nil || origin.Same(u, s.origin) {
		return u, nil
	}
	if at, ok := origin.Of(u); !ok || !s.allowed[at] {
		own, _ := origin.Of(s.origin)
		return nil, fmt.Errorf("the server %s has another origin than the document, %s, and is not listed in allow_servers", at, own)
	}
	return u, nil
}

// checkBase tells whether u can be a base URL: http or https, without user, query and fragment, not link-local. The
// last is where clouds keep the credentials of their machines; the guard of the client looks again at dial time.
func checkBase(u *url.URL) error {
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme != "http" && scheme != "https":
		return fmt.Errorf("has the scheme %q; only http and https are called", u.Scheme)
	case u.Hostname() == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("holds a user name or password")
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New("holds a query")
	case u.Fragment != "":
		return errors.New("holds a fragment")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.Unmap().IsLinkLocalUnicast() {
		return errors.New("is a link-local address")
	}
	return nil
}
