package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	toolName = regexp.MustCompile(`\A[A-Za-z0-9_-]+\z`)
	methods  = regexp.MustCompile(`\A[A-Z*]+\z`)
)

func (l *loader) rules(cfg *Config) {
	for i := range cfg.Rules {
		r, key := &cfg.Rules[i], fmt.Sprintf("rules[%d]", i)
		match, set := key+".match", key+".set"
		if l.given(match) && len(r.Match) == 0 && l.ok(match) {
			l.errorf(match, "is empty; select something")
		}
		l.selectors(match, r.Match)
		l.unknownAPIs(cfg, match, r.Match)
		l.settings(cfg, set, &r.Set)
		l.idempotencyKey(cfg, set+".idempotency_key", r)
		l.cache(cfg, i)
	}
}

func (l *loader) tools(cfg *Config) {
	l.callbacks(cfg)
	l.presentation(cfg, "tools", cfg.Tools.Pinned)
	l.dropArguments("tools.drop_arguments", cfg.Tools.DropArguments)
	const key = "tools.unconfirmed_scopes"
	l.scopes(key, cfg.Tools.UnconfirmedScopes)
	switch {
	case !l.given(key) || !l.ok(key):
	case len(cfg.Tools.UnconfirmedScopes) == 0:
		l.errorf(key, "is empty; leave it out")
	case l.ok("auth") && (cfg.Auth == nil || cfg.Auth.Anonymous):
		l.errorf(key, "needs auth.issuers: without tokens nobody has a scope")
	}
}

func (l *loader) settings(cfg *Config, key string, set *Settings) {
	if l.given(key) && l.ok(key) && !l.faulty(key) && set.empty() {
		l.errorf(key, "is empty; the rule changes nothing")
	}
	if name := key + ".name"; set.Name != "" && l.ok(name) {
		if !toolName.MatchString(set.Name) {
			l.errorf(name, "%s must consist of letters, digits, _ and -", quote(set.Name))
		} else if slices.Contains(ReservedToolNames(), set.Name) {
			l.errorf(name, "%s is the name of one of the gateway's own tools", quote(set.Name))
		} else if len(set.Name) > cfg.Tools.MaxName && l.ok("tools.max_name") {
			l.errorf(name, "is longer than tools.max_name, %d", cfg.Tools.MaxName)
		}
	}
	l.most(key+".title", set.Title, 200)
	l.most(key+".description", set.Description, 4096)
	l.scopes(key+".scopes", set.Scopes)
	if scopes := key + ".scopes"; l.given(scopes) && l.ok(scopes) && l.ok("auth") {
		switch {
		case cfg.Auth == nil || cfg.Auth.Anonymous:
			l.warnf(scopes, "has no effect: without auth.issuers nobody is asked for a token")
		case len(set.Scopes) == 0 && !cfg.Auth.AllowUnscoped:
			l.errorf(scopes, "is empty, which auth.allow_unscoped must allow")
		}
	}
	l.resource(key+".resource", set.Resource)
	l.sensitive(key+".sensitive_fields", set.SensitiveFields)
	l.progress(key+".progress", set.Progress)
	l.result(key+".result", set.Result)
	l.inputs(cfg, key+".inputs", set.Inputs)
	if set.Job != nil && !set.Job.off {
		l.job(cfg, key+".job", set.Job)
		if wait, longest := key+".job.wait", cfg.longest(set); l.given(wait) && l.ok(wait) && !l.fromDocument && set.Job.Wait > longest {
			l.warnf(wait, "is longer than a call may take, %s, which ends the wait: raise timeout", longest)
		}
	}
	l.arguments(cfg, key+".arguments", set.Arguments)
	l.paramHeaders(key+".param_headers", set.ParamHeaders)
	l.most(key+".condition", set.Condition, 4096)
	if condition := key + ".condition"; set.Condition != "" && l.ok(condition, "auth") && (cfg.Auth == nil || cfg.Auth.Anonymous) {
		l.errorf(condition, "needs auth.issuers: it is about callers, and nobody is asked who they are")
	}
}

// paramHeaders checks names of headers (2026-07-28 streamable-http: tokens, unique without regard to case).
func (l *loader) paramHeaders(key string, headers map[string]string) {
	taken := map[string]string{}
	for _, argument := range slices.Sorted(maps.Keys(headers)) {
		name, at := headers[argument], join(key, argument)
		lower := strings.ToLower(name)
		switch {
		case !l.ok(at):
		case !headerToken(name) || len(name) > 64:
			l.errorf(at, "%s is not the name of a header: at most 64 characters of a token (RFC 9110)", quote(name))
		case strings.HasPrefix(lower, "mcp-param-"):
			l.errorf(at, "%s: Mcp-Param- is put before the name; leave it out", quote(name))
		case taken[lower] != "":
			l.errorf(at, "%s is the header of %s already", quote(name), quote(taken[lower]))
		default:
			taken[lower] = argument
		}
	}
}

// longest is the most time that calls to which settings apply may take, whatever API they are of.
func (c *Config) longest(set *Settings) Duration {
	if set.Timeout > 0 {
		return set.Timeout
	}
	longest := c.Limits.Timeout
	for i := range c.APIs {
		longest = max(longest, c.APIs[i].Timeout)
	}
	for i := range c.Rules {
		longest = max(longest, c.Rules[i].Set.Timeout)
	}
	return longest
}
