package catalog

import "drawbridge/openapi"

// Features say what a client understands: the members of a tool's definition that its protocol revision knows, and the
// keywords of schemas. Views that differ in any of them differ in bytes, so it is the key by which they are kept.
type Features struct {
	Title        bool // title, since 2025-06-18; without it the title goes into the annotations
	Annotations  bool // since 2025-03-26
	OutputSchema bool // since 2025-06-18
	ParamHeaders bool // x-mcp-header, since 2026-07-28
	// Profile is the least that schemas are reduced to. APIs that are configured with the portable profile are shown in
	// it whatever stands here.
	Profile openapi.Profile
}

// View returns the definitions of all tools that are visible as a JSON array, by name. A nil visible means all.
// The bytes are the caller's.
func (c *Catalog) View(f Features, visible func(*Tool) bool) []byte {
	return c.Pages(f, 0, visible)[0]
}

// Pages returns the same as View in arrays of at most size tools; size 0 means one array. There is always one page.
func (c *Catalog) Pages(f Features, size int, visible func(*Tool) bool) [][]byte {
	listed := make([]*Tool, 0, len(c.tools))
	for _, t := range c.tools {
		if !t.Hidden && (visible == nil || visible(t)) {
			listed = append(listed, t)
		}
	}
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
