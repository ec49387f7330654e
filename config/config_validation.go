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

// config returns the configuration that the place is in. Only rules that concern several sections need it, and they stand in files whose
// names end in _validation.go, above those of the sections.
func (c cursor) config() *Config { return enclosing[Config](c) }

// hasNoTokens reports whether callers have no tokens.
func (c *Config) hasNoTokens() bool { return c.Auth == nil || c.Auth.Anonymous }
