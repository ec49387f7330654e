package config

import (
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Ready sets when the gateway reports ready.
type Ready struct {
	// When the gateway first reports ready: when one API is served (any), when in addition each load was tried (tried),
	// or when each API is served (all).
	APIs ReadyAPIs `yaml:"apis" default:"any"`
	// Keeps the gateway ready while audit records can't be written, so that it serves lists. Calls are rejected all the
	// same.
	WithoutAudit bool `yaml:"without_audit" default:"false"`
}

// ReadyAPIs is the set of APIs that the gateway waits for.
type ReadyAPIs string

// The values of [ReadyAPIs].
const (
	ReadyAny   ReadyAPIs = "any"   // one API is served
	ReadyTried ReadyAPIs = "tried" // one is, and each document was tried once
	ReadyAll   ReadyAPIs = "all"   // each is
)

func (ReadyAPIs) values() []string { return []string{"any", "tried", "all"} }

// words are those that may stand for the mapping.
func (Ready) words() []string { return ReadyAPIs("").values() }

// read reads one of the words, or a mapping.
func (r *Ready) read(l *loader, n *yaml.Node, key string) {
	if n.Kind == yaml.MappingNode {
		l.structure(n, reflect.ValueOf(r).Elem(), key)
		return
	}
	l.scalar(n, reflect.ValueOf(&r.APIs).Elem(), key, field{})
}

// MarshalYAML writes it as it may be written.
func (r Ready) MarshalYAML() (any, error) {
	type plain Ready
	if !r.WithoutAudit {
		return r.APIs, nil
	}
	return plain(r), nil
}
