package config

func (c *Config) validate(at cursor) {
	switch {
	case len(c.APIs) > 0 || at.given("discovery") || !at.ok("apis"):
	case at.given("apis"):
		at.errorf("apis", "is empty; it needs at least one OpenAPI document")
	default:
		at.errorf("apis", "is required, unless discovery finds services")
	}
}

// config returns the configuration that encloses the place. Only validation across sections needs it: the files that end in
// _validation.go, which are above those of the sections.
func (c cursor) config() *Config { return enclosing[Config](c) }

// hasNoTokens reports whether callers have no tokens.
func (c *Config) hasNoTokens() bool { return c.Auth == nil || c.Auth.Anonymous }
