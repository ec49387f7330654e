package config

import (
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

func (e *MCPEndpoint) validate(c cursor) {
	same := func(other MCPEndpoint) bool { return strings.EqualFold(other.Name, e.Name) }
	switch {
	case e.Name == "" || !c.ok("name") || !apiName.MatchString(e.Name):
	case slices.ContainsFunc(before(c.config().Endpoints, e), same):
		c.errorf("name", "%s is listed twice", quote(e.Name))
	case !c.given("match"):
		e.validateAPI(c)
	}
	if e.Title != "" && e.Info != nil && e.Info.Title != "" {
		c.errorf("info.title", "can't stand beside title, which is the same")
	}
}

// validateAPI checks that an endpoint without selectors has the name of an API, as far as all names are known.
func (e *MCPEndpoint) validateAPI(c cursor) {
	var names []string
	for _, api := range c.config().APIs {
		if api.Name == "" {
			return
		}
		names = append(names, api.Name)
	}
	if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, e.Name) }) {
		c.errorf("name", "without match an endpoint has the operations of the API that has its name, and none is named %s%s", quote(e.Name),
			text.DidYouMean(text.Nearest(e.Name, names)))
	}
}
