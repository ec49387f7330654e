package config

import (
	"fmt"
	"slices"
)

func (r *Rule) validate(c cursor) {
	r.validateIdempotencyKey(c)
	r.validateCache(c)
}

// validateIdempotencyKey checks that the gateway sends the header of a rule's keys for nothing else.
func (r *Rule) validateIdempotencyKey(c cursor) {
	const key = "set.idempotency_key"
	name := r.Set.IdempotencyKey.Name()
	if name == "" || !c.ok(key) {
		return
	}
	for i := range c.config().APIs {
		api := &c.config().APIs[i]
		concerned := api.Name == "" || slices.ContainsFunc(r.Match, func(sel Selector) bool { return sel.API.allow(api.Name) })
		if sent := api.sentIn(name); sent != "" && concerned {
			c.errorf(key, "%s is the header of %s", quote(name), c.shownKey(fmt.Sprintf("apis[%d].%s", i, sent)))
			return
		}
	}
}

// validateCache checks that no answer that is for one caller is given to others, with the APIs that the rule may be for.
func (r *Rule) validateCache(c cursor) {
	const key = "set.cache.shared"
	if !r.Set.Cache.On() || !r.Set.Cache.Shared || !c.ok(key) {
		return
	}
	for n := range c.config().APIs {
		api := &c.config().APIs[n]
		why := api.Personal()
		if why == "" {
			continue
		}
		for _, sel := range r.Match {
			if sel.API.allow(api.Name) { // one without a name may have any
				c.errorf(key, "is for an API whose answers belong to their callers: %s has %s; leave shared out, or match other APIs", c.shownKey(fmt.Sprintf("apis[%d]", n)), why)
				return
			}
		}
	}
}
