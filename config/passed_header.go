package config

import (
	"reflect"

	"go.yaml.in/yaml/v4"
)

// PassedHeader is a header of the caller's request that goes on to the service. A name alone is passed on as it is; with from and
// to it is the caller's own credential for the service.
type PassedHeader struct {
	// The header in which callers send their credential for the service. Not Authorization, DPoP or Cookie.
	From string `yaml:"from" required:"true" access:"joint: passed headers"`
	// The header in which the service receives it, such as Authorization.
	To string `yaml:"to" required:"true" access:"joint: passed headers"`

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
