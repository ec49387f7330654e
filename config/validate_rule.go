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
	if set.Name != "" && l.ok(key+".name") {
		l.toolName(cfg, key+".name", set.Name)
	}
	l.most(key+".title", set.Title, 200)
	l.most(key+".description", set.Description, 4096)
	l.ruleScopes(cfg, key+".scopes", set.Scopes)
	l.resource(key+".resource", set.Resource)
	l.sensitive(key+".sensitive_fields", set.SensitiveFields)
	l.progress(key+".progress", set.Progress)
	l.result(key+".result", set.Result)
	l.answerError(key+".error", set.Error)
	l.inputs(cfg, key+".inputs", set.Inputs)
	if set.Job != nil && !set.Job.off {
		l.job(cfg, key+".job", set.Job)
		if wait, longest := key+".job.wait", cfg.longest(set); l.given(wait) && l.ok(wait) && !l.fromDocument && set.Job.Wait > longest {
			l.warnf(wait, "is longer than a call may take, %s, which ends the wait: raise timeout", longest)
		}
	}
	l.arguments(cfg, key+".arguments", set.Arguments)
	l.annotations(key+".annotations", set)
	l.paramHeaders(key+".param_headers", set.ParamHeaders)
	l.most(key+".condition", set.Condition, 4096)
	if condition := key + ".condition"; set.Condition != "" && l.ok(condition, "auth") && (cfg.Auth == nil || cfg.Auth.Anonymous) {
		l.errorf(condition, "needs auth.issuers: it is about callers, and nobody is asked who they are")
	}
}

// toolName checks the name that a rule gives a tool.
func (l *loader) toolName(cfg *Config, key, name string) {
	switch {
	case !toolName.MatchString(name):
		l.errorf(key, "%s must consist of letters, digits, _ and -", quote(name))
	case slices.Contains(ReservedToolNames(), name):
		l.errorf(key, "%s is the name of one of the gateway's own tools", quote(name))
	case len(name) > cfg.Tools.MaxName && l.ok("tools.max_name"):
		l.errorf(key, "is longer than tools.max_name, %d", cfg.Tools.MaxName)
	case name[0] >= '0' && name[0] <= '9':
		l.warnf(key, "%s begins with a digit, and Gemini refuses a list with such a name; %s is accepted by all", quote(name), quote("_"+name))
	}
}

// ruleScopes checks the scopes that a rule requires, and that tokens are asked for at all.
func (l *loader) ruleScopes(cfg *Config, key string, scopes []string) {
	l.scopes(key, scopes)
	if !l.given(key) || !l.ok(key) || !l.ok("auth") {
		return
	}
	switch {
	case cfg.Auth == nil || cfg.Auth.Anonymous:
		l.warnf(key, "has no effect: without auth.issuers nobody is asked for a token")
	case len(scopes) == 0 && !cfg.Auth.AllowUnscoped:
		l.errorf(key, "is empty, which auth.allow_unscoped must allow")
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
