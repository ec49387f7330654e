package config

import (
	"regexp"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

var methods = regexp.MustCompile(`\A[A-Z*]+\z`)

// validate checks a selector, and puts its methods into upper case.
func (sel *Selector) validate(c cursor) {
	if sel.empty() && c.ok("") && !c.faulty("") {
		c.errorf("", "needs at least one of api, tag, method, path, operation, deprecated, extension")
	}
	for j, p := range sel.Method {
		sel.Method[j] = p.upper()
		at, method := c.item("method", j), sel.Method[j].text
		near := text.Nearest(method, knownMethods())
		switch {
		case p.text == "":
		case !methods.MatchString(method):
			c.errorf(at, "%s is not an HTTP method", quote(p.text))
		case near != "" && near != method && !strings.Contains(p.text, "*"):
			c.errorf(at, "%s is not an HTTP method%s", quote(p.text), text.DidYouMean(near))
		}
	}
	for j, p := range sel.Extension {
		if p.text != "" && !strings.HasPrefix(p.text, "x-") && p.text[0] != '*' {
			c.errorf(c.item("extension", j), "%s is not the name of an extension, which begins with x-", quote(p.text))
		}
	}
	for j, p := range sel.Path {
		if p.text != "" && p.text[0] != '/' && p.text[0] != '*' {
			c.errorf(c.item("path", j), "must begin with / or *%s", text.DidYouMean("/"+p.text))
		}
	}
	switch {
	case enclosing[API](c) == nil:
		sel.validateAPIs(c)
	case len(sel.API) > 0:
		c.errorf("api", "can't stand here: the selector is for this API alone")
	}
}

// knownMethods returns the methods that OpenAPI has fields for.
func knownMethods() []string {
	return []string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"}
}

// validateAPIs warns of API names that match no name of the configuration. Where an API has none it is called by the title of its document,
// so that the author of the document decides whether the selector matches.
func (sel *Selector) validateAPIs(c cursor) {
	var names []string
	titled := false
	for _, api := range c.config().APIs {
		if titled = titled || api.Name == ""; api.Name != "" {
			names = append(names, api.Name)
		}
	}
	for j, p := range sel.API {
		at := c.item("api", j)
		switch {
		case p.text == "", !c.ok(at), // it could not be read, or is refused
			slices.ContainsFunc(names, func(n string) bool { return Patterns{p}.allow(n) }), strings.Trim(p.text, "*") == "":
		case titled:
			c.warnf(at, "no API has the name %s: if one without name is meant, the title of its document "+
				"decides whether this matches; give it a name", quote(p.text))
		default:
			c.warnf(at, "no API is named %s%s", quote(p.text), text.DidYouMean(text.Nearest(p.text, names)))
		}
	}
}
