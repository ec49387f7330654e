package config

import "slices"

// SlashParameter is a path parameter whose values may hold slashes, or must not. A name alone sends each slash as it is.
type SlashParameter struct {
	// The name of the path parameter in the document.
	Name string `yaml:"name" required:"true" access:"joint: slashes"`
	// How a slash is sent: raw as /, encoded as %2F. rejected sends none, although the document allows it.
	As SlashForm `yaml:"as" default:"raw" access:"joint: slashes"`
}

func (p *SlashParameter) short() short {
	return short{value: &p.Name, expects: "the name of a path parameter, or a mapping with name and as"}
}

func (p *SlashParameter) validate(c cursor) {
	same := func(other SlashParameter) bool { return other.Name == p.Name }
	if c.ok("", "name") && slices.ContainsFunc(before(enclosing[API](c).SlashParameters, p), same) {
		c.errorf("", "%s is listed twice", quote(p.Name))
	}
}
