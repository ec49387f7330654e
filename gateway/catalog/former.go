package catalog

import (
	"slices"
	"strings"
)

// rememberFormer gives the candidates the names that the release before gave them, where these are others: approvals are known by them
// for one release.
func rememberFormer(candidates []*candidate, o Options) {
	if !slices.ContainsFunc(candidates, func(c *candidate) bool { return c.renamed || c.api != c.formerAPI }) {
		return
	}
	before := make([]*candidate, len(candidates))
	for i, c := range candidates {
		b := &candidate{api: c.formerAPI, op: c.op, choice: c.choice}
		b.readFormer(o.prefixed())
		b.suffixed = len(b.full) > o.limit()
		b.rename(o.limit())
		before[i] = b
	}
	settleAll(before, o.limit())
	for i, c := range candidates {
		if c.former = before[i].name; c.former == c.name {
			c.former = ""
		}
	}
}

// readFormer reads the full name as the release before did, which left out all letters outside ASCII.
func (c *candidate) readFormer(prefixed bool) {
	name := sanitize(c.choice.Name)
	if name != "" {
		c.full = name
		return
	}
	if name = sanitize(c.op.ID); name == "" {
		path, _, _ := strings.Cut(c.op.Path, "?")
		name = sanitize(strings.ToLower(c.op.Method) + "_" + path)
	}
	if prefixed {
		name = prefix(c.api, name)
	}
	c.full = name
}
