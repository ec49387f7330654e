package toolsearch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi/text"
)

const defaultLimit, maxLimit = 8, 20

// filter restricts what is found.
type filter struct {
	api, tag string
	readOnly bool
}

func (f filter) has(t *catalog.Tool) bool {
	return (f.api == "" || strings.EqualFold(t.API, f.api)) && (!f.readOnly || t.Annotations.ReadOnly) &&
		(f.tag == "" || slices.ContainsFunc(t.Tags, func(tag string) bool { return strings.EqualFold(tag, f.tag) }))
}

// String returns the filter in words.
func (f filter) String() string {
	var parts []string
	if f.api != "" {
		parts = append(parts, fmt.Sprintf("api %q", text.Truncate(f.api, 64)))
	}
	if f.tag != "" {
		parts = append(parts, fmt.Sprintf("tag %q", text.Truncate(f.tag, 64)))
	}
	if f.readOnly {
		parts = append(parts, "read_only")
	}
	return strings.Join(parts, ", ")
}

// Search answers search_tools, and returns how many tools were found. The error is an [*ArgumentError].
func (s *Scope) Search(ctx context.Context, args json.RawMessage) (text string, found int, err error) {
	a := newArguments(args)
	query := a.text("query", true)
	limit := a.number("limit", defaultLimit, maxLimit)
	f := filter{a.text("api", false), a.text("tag", false), a.flag("read_only")}
	if err := a.err(); err != nil {
		return "", 0, err
	}
	hits := s.find(ctx, query, limit, f.has)
	if len(hits) > 0 {
		return describeHits(hits, query), len(hits), nil
	}
	if f != (filter{}) {
		if hits = s.byWords(query, limit); len(hits) > 0 { // Find may have waited already
			return "No tool fits with " + f.String() + ". Without that, these do:\n\n" + describeHits(hits, query), len(hits), nil
		}
	}
	return s.nothing(query), 0, nil
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
