package catalog

import (
	"slices"
	"strings"
)

// setFormerNames sets the names that the previous release gave the candidates, if they differ:
// approvals are looked up by them for one release.
func setFormerNames(candidates []*candidate, o Options) {
	if !slices.ContainsFunc(candidates, func(c *candidate) bool { return c.renamed || c.api != c.formerAPI }) {
		return
	}
	before := make([]*candidate, len(candidates))
	for i, c := range candidates {
		b := &candidate{api: c.formerAPI, yields: c.yields, op: c.op, choice: c.choice}
		b.deriveFormer(o.prefixed())
		b.suffixed = len(b.full) > o.limit()
		b.rename(o.limit())
		before[i] = b
	}
	settleAll(before, o.limit())
	for i, c := range candidates {
		c.addFormer([]string{before[i].name})
	}
}

// addFormer adds names that the tool had earlier.
func (c *candidate) addFormer(names []string) {
	for _, name := range names {
		if name != c.name && !slices.Contains(c.former, name) {
			c.former = append(c.former, name)
		}
	}
}

// deriveFormer derives the full name as the previous release did, which omitted all letters outside
// ASCII.
func (c *candidate) deriveFormer(prefixed bool) {
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
