package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// Incoming counts the operations of a document that are not tools because the service makes the requests (OAS 3.1,
// webhooks; OAS 3.0, callback object). One that several operations refer to is counted once.
type Incoming struct{ Webhooks, Callbacks int }

func (c *compiler) incoming(all []found) (in Incoming) {
	if c.doc.dialect == swagger2 {
		return in
	}
	seen := make(map[*tree.Node]bool)
	count := func(item *tree.Node) (n int) {
		if item = c.follow(item); seen[item] {
			return 0
		}
		seen[item] = true
		for name, member := range item.Members() {
			switch {
			case slices.Contains(methods, name) && member.Kind() != tree.Null:
				n++
			case name == "additionalOperations":
				n += member.Len()
			}
		}
		return n
	}
	for _, item := range c.set.Root().Get("webhooks").Members() {
		in.Webhooks += count(item)
	}
	for _, f := range all {
		callbacks := c.follow(f.node.Get("callbacks"))
		if seen[callbacks] { // of an operation on many paths
			continue
		}
		seen[callbacks] = true
		for _, callback := range callbacks.Members() {
			if callback = c.follow(callback); seen[callback] {
				continue
			}
			seen[callback] = true
			for expression, item := range callback.Members() {
				if !strings.HasPrefix(expression, "x-") {
					in.Callbacks += count(item)
				}
			}
		}
	}
	return in
}
