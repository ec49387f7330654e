package toolsearch

import (
	"context"
	"encoding/json"

	"drawbridge/openapi/jsonscan"
)

const (
	defaultLimit, maxLimit = 8, 20
	// maxListed is the number of APIs that a search without a query lists.
	maxListed = 200
)

// Search answers search_tools, and returns how many tools were found. The error is an [*ArgumentError].
func (s *Scope) Search(ctx context.Context, args json.RawMessage) (text string, found int, err error) {
	a := newArguments(args)
	query := a.text("query", jsonscan.Lookup(args, "query") == nil) // an empty one asks for the APIs
	limit, cut := a.number("limit", defaultLimit, maxLimit)
	f := filter{a.text("api", false), a.text("tag", false), a.flag("read_only")}
	if err := a.err(); err != nil {
		return "", 0, err
	}
	if query == "" {
		return s.overview(), 0, nil
	}
	o := &outcome{scope: s, query: query, limit: limit, filter: f}
	if cut {
		o.note("limit is at most %d.", maxLimit)
	}
	o.search(ctx)
	if len(o.found.Hits) == 0 {
		return s.nothing(query), 0, nil
	}
	return o.String(), len(o.found.Hits), nil
}

// overview lists the APIs, for a search without a query.
func (s *Scope) overview() string {
	apis := s.counts(apiOf)
	if len(apis) == 0 {
		return "You may call no tool of this server."
	}
	return "The APIs, with their numbers of tools: " + list(apis, maxListed) + ". Search with a query, such as the name of a thing and what to do with it."
}

// nothing says where else to look if no tool fits.
func (s *Scope) nothing(query string) string {
	const shown = 12
	apis := nearest(s.counts(apiOf), query)
	if len(apis) == 0 {
		return "You may call no tool of this server."
	}
	text := "No tool fits. The APIs, with their numbers of tools: " + list(apis, shown) + "."
	if tags := nearest(s.counts(tagsOf), query); len(tags) > 0 {
		text += " Their tags: " + list(tags, 2*shown) + "."
	}
	return text + " Search again in other or fewer words, such as the name of a thing and what to do with it."
}
