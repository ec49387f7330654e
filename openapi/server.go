package openapi

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/tree"
)

// servers decides where calls go (S7, ADR 0047). A configured base URL replaces the servers of the document as a whole.
// An operation whose nearest list of servers is another one keeps that: on an origin of the document's own servers
// under the origin of the base URL, on another origin only if the configuration allows it.
type servers struct {
	base     *url.URL     // of the configuration; nil if there is none
	service  *ServicePath // how the path of base was found; nil if the configuration has it
	document *url.URL     // of a document that was fetched; otherwise nil
	origin   *url.URL     // which may then be called
	allowed  map[origin.Origin]bool
	values   map[string]string // of variables, from the configuration
	selected map[string]string // those of values that are not the same for all calls
	problems *problems
	swagger  *tree.Node // the root of a document of 2.0; otherwise nil

	own   ownServers
	root  target   // of operations without servers
	known sync.Map // *tree.Node of a list → target: operations share them
}

// target is the base URL for calls of an operation, or the reason why there is none.
type target struct {
	url     *url.URL
	problem string     // the reason why calls can't be made
	refused error      // the reason why the operation isn't served: its server is of an origin that isn't allowed
	at      *tree.Node // that server
}

func newServers(d *Document, o CompileOptions, ps *problems) (*servers, error) {
	if o.BaseURL != nil {
		if err := checkBase(o.BaseURL); err != nil {
			return nil, fmt.Errorf("base URL %q: %w", o.BaseURL.Redacted(), err)
		}
	}
	s := &servers{base: o.BaseURL, document: d.url, origin: d.origin, allowed: make(map[origin.Origin]bool), values: o.ServerVariables, problems: ps}
	for _, a := range o.AllowServers {
		at, ok := origin.Parse(a)
		if !ok {
			return nil, fmt.Errorf("allowed server %q is not an origin such as https://api.example.com", a)
		}
		s.allowed[at] = true
	}
	root := d.set.Root()
	all := []server{{at: root, url: "/", missing: true}} // OAS: the default is one server with the URL "/"
	switch list := root.Get("servers"); {
	case d.dialect == swagger2:
		s.swagger = root
		all = s.swagger2(root, root.Get("schemes"))
	case list.Len() > 0:
		all = listed(list)
	}
	s.own.learn(s, all)
	if s.base != nil {
		if s.service = o.ServicePath; s.service != nil {
			s.base = s.servicePath(root, all)
		}
		s.root = target{url: s.base}
		return s, nil
	}
	s.root = s.first(root, all, s.resolve)
	return s, nil
}

// of returns the target of an operation. The nearest list of servers counts: operation, path item, document (OAS
// operation object, servers).
func (s *servers) of(f found) target {
	if s.swagger != nil {
		return s.ofSwagger2(f)
	}
	for _, list := range []*tree.Node{f.node.Get("servers"), f.item.Get("servers")} {
		if list.Len() == 0 {
			continue
		}
		if known, ok := s.known.Load(list); ok {
			if t, ok := known.(target); ok {
				return t
			}
		}
		t := s.first(list, listed(list), s.resolveOwn)
		s.known.Store(list, t)
		return t
	}
	return s.root
}

// A server is one candidate with its variables not replaced yet.
type server struct {
	at        *tree.Node
	url       string
	variables *tree.Node
	missing   bool // the document names none
}

// listed returns the servers of a list.
func listed(list *tree.Node) (all []server) {
	for _, n := range list.Items() {
		all = append(all, server{at: n, url: strings.TrimSpace(n.Get("url").Text()), variables: n.Get("variables")})
	}
	return all
}

// first returns the first usable server. If there is none, the error about an origin that isn't allowed is preferred,
// since the configuration can allow it.
func (s *servers) first(at *tree.Node, all []server, resolve func(server) (*url.URL, error)) target {
	var problem string
	var refused target
	for _, candidate := range all {
		u, err := resolve(candidate)
		if err == nil {
			return target{url: u}
		}
		var other *otherOriginError
		switch {
		case errors.As(err, &other):
			if refused.refused == nil {
				refused = target{refused: err, at: candidate.at}
			}
		case problem == "":
			at, problem = candidate.at, err.Error()+s.advice(candidate, err)
		}
	}
	if refused.refused != nil {
		return refused
	}
	s.problems.at(at, codeServer, "%s%s", unusableServer, problem)
	return target{problem: problem}
}

// advice returns the next step for a server that can't be used.
func (s *servers) advice(candidate server, err error) string {
	var v *variableError
	unset := errors.As(err, &v) && !v.placeholder
	switch {
	case candidate.missing: // possibly only the document exists
		return "; a configuration file with spec and base_url has to name it"
	case unset && s.base != nil:
		return "; set it in server_variables"
	case unset:
		return "; set it in server_variables, or set base_url for this API"
	case s.base != nil:
		return "; correct it in the document, or by an overlay"
	default:
		return "; set base_url for this API"
	}
}

// resolve returns the URL of a server of the document as a whole. It is called without a base URL only.
func (s *servers) resolve(candidate server) (*url.URL, error) {
	u, _, err := s.absolute(candidate)
	if err != nil {
		return nil, err
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

// checkBase verifies that u can be a base URL: http or https, without user, query and fragment, not link-local.
// Link-local addresses are where clouds keep the credentials of their machines; the guard of the client checks again at
// dial time.
func checkBase(u *url.URL) error {
	if err := checkForm(u); err != nil {
		return err
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.Unmap().IsLinkLocalUnicast() {
		return errors.New("is a link-local address")
	}
	return nil
}

// checkForm is checkBase for a URL whose host isn't called.
func checkForm(u *url.URL) error {
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
	return nil
}
