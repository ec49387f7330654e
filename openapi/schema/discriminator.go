package schema

import (
	"fmt"
	"path"
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

// discriminator tells in words what the discriminator of a schema with alternatives says (OAS 3.0.4, discriminator
// object): JSON Schema has no such keyword, and without it a model can't know the value.
func (c *Converter) discriminator(n *tree.Node) string {
	d := n.Get("discriminator")
	name := discriminatorName(n)
	if name == "" || n.Get("oneOf") == nil && c.anyOf(n) == nil {
		return ""
	}
	found := c.found[n] != nil
	for _, list := range []*tree.Node{n.Get("oneOf"), n.Get("anyOf")} {
		if _, complete := c.tagged(n, list); complete {
			return "" // the alternatives say it
		}
		if list != nil && !found && d.Get("mapping").Len() == 0 && c.implied(n, list) == nil {
			return "" // the names of the components are not what the property has
		}
	}
	var values []string
	add := func(value string) {
		if value != "" && !unclean(value) {
			values = append(values, fmt.Sprintf("%q", text.TruncateWords(value, maxShown)))
		}
	}
	mapped := map[string]bool{}
	for value, target := range d.Get("mapping").Members() {
		add(value)
		mapped[path.Base(target.Text())] = true
	}
	for _, union := range []*tree.Node{n.Get("oneOf"), c.anyOf(n)} {
		for _, branch := range union.Items() {
			if found && c.reference(branch) == nil {
				continue // the base itself
			}
			if fixedValues(c.resolve(branch).Get("properties").Get(name)) != nil {
				return "" // the alternatives say it themselves
			}
			if target, err := c.set.Resolve(branch); err == nil && !mapped[target.Key()] {
				add(target.Key())
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	if more := len(values) - maxAllowed; more > 0 {
		values = append(values[:maxAllowed], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%q tells which of the alternatives it is: %s.", text.TruncateWords(name, maxShown), strings.Join(values, ", "))
}

// stepsOfListing is what a look at one schema of a composition takes.
const stepsOfListing = 3

// lists reports whether a schema, or one that it is composed of, has child among its alternatives. A child of a
// discriminator does "allOf: [parent]" to take over the parent's properties (OAS 3.0.4, discriminator object), not to
// be one of the parent's children again.
func (c *Converter) lists(parent, child *tree.Node) bool {
	if parent == nil || child == nil {
		return false
	}
	seen := make(map[*tree.Node]bool)
	next := []*tree.Node{parent}
	for len(next) > 0 && len(seen) < maxComposed {
		n := next[0]
		next = next[1:]
		if seen[n] {
			continue
		}
		c.work(stepsOfListing)
		seen[n] = true
		l := c.listedBy(n)
		if l.alternatives[child] {
			return true
		}
		next = append(next, l.composed...)
	}
	return false
}

// listed is what a schema has below it that applies in place.
type listed struct {
	alternatives map[*tree.Node]bool
	composed     []*tree.Node // the first maxComposed that may list others: alternatives, members of allOf, what it refers to
}

// listedBy returns what a schema lists.
func (c *Converter) listedBy(n *tree.Node) *listed {
	if known, ok := c.listed.Load(n); ok {
		l, _ := known.(*listed)
		return l
	}
	l := &listed{}
	add := func(n *tree.Node) {
		if n != nil && len(l.composed) < maxComposed && (n.Get("oneOf") != nil || c.anyOf(n) != nil || n.Get("allOf") != nil || c.reference(n) != nil) {
			l.composed = append(l.composed, n)
		}
	}
	for _, union := range []*tree.Node{n.Get("oneOf"), c.anyOf(n)} {
		for _, branch := range union.Items() {
			c.step()
			if branch = c.resolve(branch); branch == nil {
				continue
			}
			if l.alternatives == nil {
				l.alternatives = make(map[*tree.Node]bool)
			}
			l.alternatives[branch] = true
			if branch.Get("oneOf") != nil || c.anyOf(branch) != nil {
				add(branch)
			}
		}
	}
	for _, part := range n.Get("allOf").Items() {
		c.step()
		add(c.resolve(part))
	}
	if c.reference(n) != nil {
		add(c.resolve(n))
	}
	known, _ := c.listed.LoadOrStore(n, l)
	l, _ = known.(*listed)
	return l
}
