package config

import (
	"fmt"
	"slices"
)

// idempotencyKey checks that the header of a rule's keys is none that the gateway sends for something else.
func (l *loader) idempotencyKey(cfg *Config, key string, r *Rule) {
	name := r.Set.IdempotencyKey.Name()
	if name == "" || !l.ok(key) {
		return
	}
	for i := range cfg.APIs {
		api := &cfg.APIs[i]
		concerned := api.Name == "" || slices.ContainsFunc(r.Match, func(sel Selector) bool { return sel.API.allow(api.Name) })
		if c := api.sentIn(name); c != "" && concerned {
			l.errorf(key, "%s is the header of apis[%d].%s", quote(name), i, c)
			return
		}
	}
}

// cache checks that no answer that is for one caller is given to others. The rule at rules[i] is looked at with the APIs that it
// may be for.
func (l *loader) cache(cfg *Config, i int) {
	set, key := &cfg.Rules[i].Set, fmt.Sprintf("rules[%d].set.cache.shared", i)
	if !set.Cache.On() || !set.Cache.Shared || !l.ok(key) {
		return
	}
	for n := range cfg.APIs {
		api := &cfg.APIs[n]
		why := api.Personal()
		if why == "" {
			continue
		}
		for _, sel := range cfg.Rules[i].Match {
			if sel.API.allow(api.Name) { // one without a name may have any
				l.errorf(key, "is for an API whose answers belong to their callers: apis[%d] has %s; leave shared out, or match other APIs", n, why)
				return
			}
		}
	}
}

func (l *loader) sensitive(key string, s *SensitiveFields) {
	const most = 100
	switch {
	case s == nil || !l.ok(key) || l.faulty(key):
	case len(s.Fields) == 0:
		l.errorf(key, "is empty; name what is to be hidden")
	case len(s.Fields) > most:
		l.errorf(key, "has %d fields, more than %d", len(s.Fields), most)
	}
}
