package config

import "fmt"

// Cache is how answers of an operation are kept.
type Cache struct {
	// The lifetime of a response for which the service sets none (Cache-Control, Expires). The service's headers take
	// precedence, and a response that must not be stored is not cached.
	TTL Duration `yaml:"ttl,omitempty" min:"1s" max:"24h" absent:"such a response is cached for revalidation only"`
	// Shares cached responses among all callers. It is for services whose responses don't depend on the caller; private
	// responses are then not cached. An API with pass_headers, identity or a credential of type token_exchange can't use
	// it.
	Shared bool `yaml:"shared" default:"false"`
	// The maximum bytes of a cached response, after decompression.
	MaxBytes ByteSize `yaml:"max_bytes" default:"1MiB" min:"1KiB" max:"64MiB"`

	off bool // written as false
}

// turn makes a cache with all defaults, or none.
func (c *Cache) turn(on bool) { c.off = !on }

// On reports whether answers are kept: a cache may be nil, or written as false.
func (c *Cache) On() bool { return c != nil && !c.off }

// Personal says what makes the answers of an API those of their callers, as a key of its entry; "" if nothing does.
func (a *API) Personal() string {
	switch {
	case len(a.PassHeaders) > 0:
		return "pass_headers"
	case a.Identity != nil:
		return "identity"
	case a.Exchanges():
		return "a credential of type token_exchange"
	}
	return ""
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
