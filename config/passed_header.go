package config

import "go.yaml.in/yaml/v4"

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

func (h *PassedHeader) short() short {
	return short{value: &h.From, expects: "the name of a header, or a mapping with from and to"}
}

func (h *PassedHeader) complete(_ *loader, n *yaml.Node, _ string) {
	if h.credential = n.Kind == yaml.MappingNode; !h.credential {
		h.To = h.From
	}
}
