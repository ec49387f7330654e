package catalog

import "drawbridge/openapi"

// Features describe what a client understands: the members of a tool's definition that its protocol
// revision defines, and the schema keywords. Views with different features differ in bytes, so
// Features are the key of cached views.
type Features struct {
	Title        bool // title, since 2025-06-18; without it the title is in the annotations
	Annotations  bool // since 2025-03-26
	OutputSchema bool // since 2025-06-18
	ParamHeaders bool // x-mcp-header, since 2026-07-28
	// Profile is the minimal reduction of schemas. APIs that are configured with the portable
	// profile use it in any case.
	Profile openapi.Profile
}

// FeaturesOf returns the features of tool definitions in a protocol revision.
func FeaturesOf(revision string) Features {
	return Features{
		Annotations:  revision >= "2025-03-26",
		Title:        revision >= "2025-06-18",
		OutputSchema: revision >= "2025-06-18",
		ParamHeaders: revision >= "2026-07-28",
	}
}

// AllFeatures are the features of the newest protocol revision, with schemas in the profile of
// each API.
var AllFeatures = Features{Title: true, Annotations: true, OutputSchema: true, ParamHeaders: true}

// View returns the definitions of all visible tools as a JSON array, by name. If visible is nil,
// all are. The caller owns the bytes.
func (c *Catalog) View(f Features, visible func(*Tool) bool) []byte {
	return c.Pages(f, 0, visible)[0]
}

// Pages returns the same as View in arrays of at most size tools, with more tools at the end; 0 means one array. There is
// always one page.
func (c *Catalog) Pages(f Features, size int, visible func(*Tool) bool, more ...*Tool) [][]byte {
	listed := make([]*Tool, 0, len(c.tools)+len(more))
	for _, t := range c.tools {
		if !t.Hidden && (visible == nil || visible(t)) {
			listed = append(listed, t)
		}
	}
	return PagesOf(append(listed, more...), f, size)
}

// PagesOf returns the definitions of tools, in their order, as [Catalog.Pages] does.
func PagesOf(listed []*Tool, f Features, size int) [][]byte {
	if size <= 0 {
		size = max(len(listed), 1)
	}
	pages := make([][]byte, 0, len(listed)/size+1)
	for {
		n := min(size, len(listed))
		pages = append(pages, array(listed[:n], f))
		if listed = listed[n:]; len(listed) == 0 {
			return pages
		}
	}
}

func array(tools []*Tool, f Features) []byte {
	n := 2
	for _, t := range tools {
		n += t.size(f) + 1
	}
	dst := append(make([]byte, 0, n), '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.appendDefinition(dst, f)
	}
	return append(dst, ']')
}
