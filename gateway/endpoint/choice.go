package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/text"
)

// choice is what a client has chosen of an endpoint by the query of its URL, such as ?presentation=all&apis=billing. It is a
// convenience and no boundary: the client may call every tool of the endpoint by its name.
type choice struct {
	query        string              // that was parsed
	presentation config.Presentation // "" if it is left to the endpoint
	filters      []choiceFilter      // a tool must pass all
}

// maxChoiceEntries is the most entries of a key, which are compared with all tools.
const maxChoiceEntries = 32

// choiceFilter restricts the tools to those of which a value matches a pattern.
type choiceFilter struct {
	key      string // of the query
	patterns config.Patterns
	values   func(*catalog.Tool) []string
}

// The keys of the query, with the values of a tool that they select by.
var choiceFilters = []choiceFilter{
	{key: "tools", values: func(t *catalog.Tool) []string { return []string{t.Name} }},
	{key: "tags", values: func(t *catalog.Tool) []string { return t.Tags }},
	{key: "apis", values: func(t *catalog.Tool) []string { return []string{t.API} }},
}

// parseChoice reads a query; nil if it is empty. The error is an HTTP 400. It quotes no value, which may be a secret.
func parseChoice(query string) (*choice, error) {
	if query == "" {
		return nil, nil //nolint:nilnil // no query, no choice
	}
	if len(query) > mcp.MaxQuery {
		return nil, badChoice("the query of the URL has %d bytes: at most %d are allowed", len(query), mcp.MaxQuery)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, badChoice("the query of the URL can't be read")
	}
	c := &choice{query: query}
	for _, f := range choiceFilters {
		if given, ok := values[f.key]; ok {
			if f.patterns, err = patterns(f.key, given); err != nil {
				return nil, err
			}
			c.filters = append(c.filters, f)
			delete(values, f.key)
		}
	}
	if given, ok := values["presentation"]; ok {
		delete(values, "presentation")
		c.presentation = config.Presentation(given[len(given)-1])
		switch c.presentation {
		case config.PresentationAll, config.PresentationSearch, config.PresentationAuto:
		default:
			return nil, badChoice("presentation in the query of the URL must be all, search or auto")
		}
	}
	for key := range values {
		return nil, badChoice("%q in the query of the URL is unknown: there are presentation, tools, tags and apis", text.Truncate(key, 64))
	}
	return c, nil
}

func badChoice(format string, args ...any) error {
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: fmt.Sprintf(format, args...), HTTPStatus: http.StatusBadRequest}
}

// patterns returns the patterns in the values of a key, separated by commas.
func patterns(key string, values []string) (all config.Patterns, err error) {
	for _, value := range values {
		for text := range strings.SplitSeq(value, ",") {
			var p config.Pattern
			if text = strings.TrimSpace(text); text == "" {
				return nil, badChoice("%s in the query of the URL has an empty entry", key)
			}
			if err := p.UnmarshalText([]byte(text)); err != nil {
				return nil, badChoice("%s in the query of the URL has an entry that can't be read", key)
			}
			if all = append(all, p); len(all) > maxChoiceEntries {
				return nil, badChoice("%s in the query of the URL has more than %d entries", key, maxChoiceEntries)
			}
		}
	}
	return all, nil
}

// has reports whether a tool is among those chosen. A nil choice has all.
func (c *choice) has(t *catalog.Tool) bool {
	return c == nil || !slices.ContainsFunc(c.filters, func(f choiceFilter) bool { return !f.has(t) })
}

func (f *choiceFilter) has(t *catalog.Tool) bool {
	return slices.ContainsFunc(f.values(t), f.patterns.Match)
}

// check returns an error if an entry of the query, or all of it, matches none of the tools that visible lets pass.
func (c *choice) check(tools []*catalog.Tool, visible func(*catalog.Tool) bool) error {
	var seen []*catalog.Tool
	for _, t := range tools {
		if visible(t) {
			seen = append(seen, t)
		}
	}
	for _, f := range c.filters {
		for i := range f.patterns {
			one := choiceFilter{patterns: f.patterns[i : i+1], values: f.values}
			if !slices.ContainsFunc(seen, one.has) {
				return badChoice("entry %d of %s in the query of the URL matches no tool of this endpoint", i+1, f.key)
			}
		}
	}
	if len(c.filters) > 0 && !slices.ContainsFunc(seen, c.has) {
		return badChoice("the query of the URL matches no tool of this endpoint: a tool must fit all of its keys")
	}
	return nil
}
