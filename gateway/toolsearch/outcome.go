package toolsearch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/openapi/text"
)

// ranked is the number of the best tools among which those are counted that read_only leaves out.
const ranked = 100

// outcome is a search with what is said of it.
type outcome struct {
	scope  *Scope
	query  string
	limit  int
	filter filter
	notes  []string // sentences before the hits
	found  finder.Result
}

func (o *outcome) note(format string, args ...any) {
	o.notes = append(o.notes, fmt.Sprintf(format, args...))
}

// search searches with the filter. If nothing fits well with it, it drops as little of the filter as it needs: first the
// tag, then the API. read_only is dropped only if there is nothing else, since a model that asks for it must not change
// anything by mistake.
func (o *outcome) search(ctx context.Context) {
	f := o.filter
	if f.readOnly {
		o.searchReadOnly(ctx)
	} else {
		o.found = o.scope.find(ctx, o.query, o.limit, f.has)
	}
	if !o.lacking() {
		o.noteUnmet("")
		return
	}
	for _, wider := range []filter{{api: f.api, readOnly: f.readOnly}, {readOnly: f.readOnly}, {}} {
		if wider == f || wider == (filter{}) && f.readOnly && len(o.found.Hits) > 0 {
			continue
		}
		// Find may have waited already.
		if found := o.scope.byWords(o.query, o.limit, wider.has); len(found.Hits) > 0 && (!found.Weak || len(o.found.Hits) == 0) {
			o.found = found
			o.note("No tool fits with %s. Without that, these do:", f.without(wider))
			return
		}
	}
	o.noteUnmet(f.String())
}

// lacking reports whether no tool fits well.
func (o *outcome) lacking() bool { return len(o.found.Hits) == 0 || o.found.Weak }

// searchReadOnly finds the read-only tools, and notes how many others fit better than the best of them.
func (o *outcome) searchReadOnly(ctx context.Context) {
	all := o.filter
	all.readOnly = false
	found := o.scope.find(ctx, o.query, ranked, all.has)
	isReadOnly := func(h finder.Hit) bool { return o.scope.Tools[h.Tool].Annotations.ReadOnly }
	better := slices.IndexFunc(found.Hits, isReadOnly)
	if better < 0 {
		better = len(found.Hits)
	}
	// Whether one fits well is judged by the read-only tools alone.
	o.found = o.scope.byWords(o.query, o.limit, o.filter.has)
	switch {
	case better == 1:
		o.note("read_only left out 1 tool that fits better and may change something.")
	case better > 1:
		o.note("read_only left out %d tools that fit better and may change something.", better)
	}
}

// noteUnmet names the wishes that no tool fits well.
func (o *outcome) noteUnmet(with string) {
	if with != "" {
		with = " with " + with
	}
	switch {
	case len(o.found.Hits) == 0:
	case o.found.Weak:
		o.note("Nothing fits well%s; the nearest:", with)
	default:
		for _, wish := range o.found.Unmet {
			o.note("Nothing fits %q well.", text.Truncate(wish, 80))
		}
	}
}

// String returns the notes, then the hits.
func (o *outcome) String() string {
	hits := o.scope.describeHits(o.found, o.query)
	if len(o.notes) == 0 {
		return hits
	}
	return strings.Join(o.notes, " ") + "\n\n" + hits
}

// filter restricts what is found.
type filter struct {
	api, tag string
	readOnly bool
}

func (f filter) has(t *catalog.Tool) bool {
	return (f.api == "" || strings.EqualFold(t.API, f.api)) && (!f.readOnly || t.Annotations.ReadOnly) &&
		(f.tag == "" || slices.ContainsFunc(t.Tags, func(tag string) bool { return strings.EqualFold(tag, f.tag) }))
}

// without returns the part of the filter that a wider one does not have, in words.
func (f filter) without(wider filter) string {
	if wider.api != "" {
		f.api = ""
	}
	f.readOnly = f.readOnly && !wider.readOnly
	return f.String()
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
