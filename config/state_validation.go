package config

import (
	"regexp"
	"slices"

	"drawbridge/openapi/origin"
)

var redisPrefix = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,40}\z`)

func (s *State) validate(c cursor) {
	for i, use := range s.Closed {
		switch at := c.item("closed", i); {
		case !c.ok(at):
		case slices.Contains(s.Closed[:i], use):
			c.errorf(at, "%s is listed twice", use)
		case s.Redis == nil && c.ok("redis"):
			c.errorf(at, "has no effect without state.redis")
		case use == SharedReplays && !c.config().hasDPoP():
			c.errorf(at, "has no effect: no issuer has dpop")
		}
	}
}

func (r *Redis) validate(c cursor) {
	if len(c.config().Server.SealKeys) == 0 && c.loader.ok("server.seal_keys") {
		c.errorf("", "needs server.seal_keys, the same for all replicas: what they share is sealed with them")
	}
	if c.ok("prefix") && !redisPrefix.MatchString(r.Prefix) {
		c.errorf("prefix", "must be letters, digits, _, - and ., at most 40")
	}
	c.authority(c.path("ca_file"), r.CAFile)
	if c.ok("url") && r.URL.at != nil {
		r.validateURL(c)
	}
}

// validateURL checks the settings that depend on the URL: user, password and TLS.
func (r *Redis) validateURL(c cursor) {
	user, _ := r.URL.Reveal()
	switch {
	case r.User != "" && user != "":
		c.errorf("user", "stands in the URL too")
	case !r.Password.IsZero() && r.URL.hasPassword():
		c.errorf("password", "stands in the URL too")
	case r.User != "" && r.Password.IsZero() && !r.URL.hasPassword() && c.ok("password"):
		c.errorf("user", "needs a password")
	}
	if r.CAFile != "" && !r.URL.TLS() {
		c.errorf("ca_file", "has no effect: the URL is not rediss")
	}
	if r.URL.at.scheme == "redis" && (r.URL.hasPassword() || !r.Password.IsZero()) && !origin.Loopback(r.URL.Host()) {
		c.warnf("url", "the password travels in clear; rediss protects it")
	}
}
