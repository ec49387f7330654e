package config

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// PassedHeader is a header of the caller's request that goes on to the service. A name alone is passed on as it is; with from and
// to it is the caller's own credential for the service.
type PassedHeader struct {
	// The header in which callers send their own credential for the service. It can't be Authorization, DPoP or Cookie: those
	// are for the gateway.
	From string `yaml:"from" need:"true"`
	// The header in which the service receives it, with the same value, such as Authorization.
	To string `yaml:"to" need:"true"`

	credential bool
}

// IsCredential reports whether the header has the caller's own credential for the service.
func (h PassedHeader) IsCredential() bool { return h.credential }

// MarshalYAML writes it as it may be written.
func (h PassedHeader) MarshalYAML() (any, error) {
	type plain PassedHeader
	if !h.credential {
		return h.From, nil
	}
	return plain(h), nil
}

// read reads a name, or a mapping of from and to.
func (h *PassedHeader) read(l *loader, n *yaml.Node, key string) {
	switch {
	case n.Kind == yaml.MappingNode:
		h.credential = true
		l.structure(n, reflect.ValueOf(h).Elem(), key)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		l.scalar(n, reflect.ValueOf(&h.From).Elem(), key, field{})
		h.To = h.From
	default:
		l.errorf(key, "expected the name of a header, or a mapping with from and to, got %s", described(n))
	}
}

// PassesCredential reports whether callers send their own credential for the service.
func (a *API) PassesCredential() bool {
	return slices.ContainsFunc(a.PassHeaders, PassedHeader.IsCredential)
}

// passed checks the headers of the caller that go on to the service.
func (l *loader) passed(key string, api *API) {
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

// sentIn returns the key below the API of what the gateway itself sends in a header, "" for nothing.
func (a *API) sentIn(header string) string {
	keys, all := a.AllCredentials()
	for i, c := range all {
		if c != a.SpecCredential && slices.ContainsFunc(c.Headers(), func(name string) bool { return sameHeader(name, header) }) {
			return keys[i]
		}
	}
	if a.Identity != nil && sameHeader(a.Identity.HeaderName(), header) {
		return "identity"
	}
	return ""
}
