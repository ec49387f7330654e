package config

import (
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// SlashParameter is a path parameter whose values may hold slashes, or must not. A name alone sends each slash as it is.
type SlashParameter struct {
	// The name of the path parameter in the document.
	Name string `yaml:"name" required:"true" access:"joint: slashes"`
	// How a slash is sent: raw as /, encoded as %2F. rejected sends none, although the document allows it.
	As SlashForm `yaml:"as" default:"raw" access:"joint: slashes"`
}

// MarshalYAML writes it as it may be written.
func (p SlashParameter) MarshalYAML() (any, error) {
	type plain SlashParameter
	if p.As == SlashRaw {
		return p.Name, nil
	}
	return plain(p), nil
}

// read reads a name, or a mapping of name and as.
func (p *SlashParameter) read(l *loader, n *yaml.Node, key string) {
	switch {
	case n.Kind == yaml.MappingNode:
		l.structure(n, reflect.ValueOf(p).Elem(), key)
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		l.scalar(n, reflect.ValueOf(&p.Name).Elem(), key, field{})
		p.As = SlashRaw
	default:
		l.errorf(key, "expected the name of a path parameter, or a mapping with name and as, got %s", described(n))
	}
}

func (p *SlashParameter) validate(c cursor) {
	same := func(other SlashParameter) bool { return other.Name == p.Name }
	if c.ok("", "name") && slices.ContainsFunc(before(enclosing[API](c).SlashParameters, p), same) {
		c.errorf("", "%s is listed twice", quote(p.Name))
	}
}
