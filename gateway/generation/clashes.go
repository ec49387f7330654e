package generation

import (
	"fmt"
	"strings"

	"drawbridge/gateway/catalog"
)

// clashesOf describes the tool names that depend on whether the documents of other APIs can be read.
func clashesOf(c *catalog.Catalog) []string {
	clashes := c.Clashes()
	if len(clashes) == 0 {
		return nil
	}
	const most = 5
	var list []string
	for _, clash := range clashes[:min(len(clashes), most)] {
		list = append(list, fmt.Sprintf("%q (%s)", clash.Name, strings.Join(clash.APIs, ", ")))
	}
	more := ""
	if len(clashes) > most {
		more = fmt.Sprintf(" and %d more", len(clashes)-most)
	}
	return []string{fmt.Sprintf("tools of several APIs would be named %s%s, so that a hash ends their names, but not those of one while the others "+
		"can't be read: name them by rules, or let tools.prefix tell them apart", strings.Join(list, ", "), more)}
}
