package endpoint

import (
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/toolsearch"
)

// SearchList returns the definitions that /mcp would list in search mode, as a JSON array; nil if it does.
func (t *Table) SearchList() []byte {
	if t.Main == nil || t.Main.Presentation.Search {
		return nil
	}
	return toolsearch.Pages(catalog.AllFeatures, 0, t.Main.Presentation.pinned)[0]
}
