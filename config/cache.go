package config

// Cache is how answers of an operation are kept.
type Cache struct {
	// The lifetime of a response for which the service sets none. The service's headers take precedence.
	TTL Duration `yaml:"ttl,omitempty" min:"1s" max:"24h" absent:"such a response is cached for revalidation only" access:"none: how long a response is fresh"`
	// Shares responses among all callers, for services whose responses don't depend on the caller. Not with
	// pass_headers, identity, token_exchange, on_behalf_of or authorization_code.
	Shared bool `yaml:"shared" default:"false" access:"joint: operation"`
	// The maximum bytes of a cached response, after decompression.
	MaxBytes ByteSize `yaml:"max_bytes" default:"1MiB" min:"1KiB" max:"64MiB" access:"none: limits bound the cost of a call"`

	off bool // written as false
}

func (c *Cache) short() short { return switchedOff(&c.off) }

// On reports whether answers are kept: a cache may be nil, or written as false.
func (c *Cache) On() bool { return c != nil && !c.off }
