package config

import (
	"fmt"
	"regexp"
	"slices"

	"drawbridge/openapi/origin"
)

var redisPrefix = regexp.MustCompile(`\A[A-Za-z0-9_.-]{1,40}\z`)

// state checks what replicas share.
func (l *loader) state(cfg *Config) {
	for i := range cfg.State.Closed {
		l.closedUse(cfg, i)
	}
	if cfg.State.Redis == nil || !l.ok("state.redis") {
		return
	}
	r := cfg.State.Redis
	if len(cfg.Server.SealKeys) == 0 && l.ok("server.seal_keys") {
		l.errorf("state.redis", "needs server.seal_keys, the same for all replicas: what they share is sealed with them")
	}
	if l.ok("state.redis.prefix") && !redisPrefix.MatchString(r.Prefix) {
		l.errorf("state.redis.prefix", "must be letters, digits, _, - and ., at most 40")
	}
	l.authority("state.redis.ca_file", r.CAFile)
	if l.ok("state.redis.url") && r.URL.at != nil {
		l.redisURL(r)
	}
}

// closedUse checks an item of state.closed.
func (l *loader) closedUse(cfg *Config, i int) {
	s := &cfg.State
	key, use := fmt.Sprintf("state.closed[%d]", i), s.Closed[i]
	switch {
	case !l.ok(key):
	case slices.Contains(s.Closed[:i], use):
		l.errorf(key, "%s is listed twice", use)
	case s.Redis == nil && l.ok("state.redis"):
		l.errorf(key, "has no effect without state.redis")
	case use == SharedReplays && (cfg.Auth == nil || !slices.ContainsFunc(cfg.Auth.Issuers, func(is Issuer) bool { return is.DPoP != DPoPOff })):
		l.errorf(key, "has no effect: no issuer has dpop")
	}
}

// redisURL checks the settings that depend on the URL: user, password and TLS.
func (l *loader) redisURL(r *Redis) {
	user, _ := r.URL.Reveal()
	switch {
	case r.User != "" && user != "":
		l.errorf("state.redis.user", "stands in the URL too")
	case !r.Password.IsZero() && r.URL.hasPassword():
		l.errorf("state.redis.password", "stands in the URL too")
	case r.User != "" && r.Password.IsZero() && !r.URL.hasPassword() && l.ok("state.redis.password"):
		l.errorf("state.redis.user", "needs a password")
	}
	if r.CAFile != "" && !r.URL.TLS() {
		l.errorf("state.redis.ca_file", "has no effect: the URL is not rediss")
	}
	if r.URL.at.scheme == "redis" && (r.URL.hasPassword() || !r.Password.IsZero()) && !origin.Loopback(r.URL.Host()) {
		l.warnf("state.redis.url", "the password travels in clear; rediss protects it")
	}
}
