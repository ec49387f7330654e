package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// validateKeys checks that no two entries have the same name or hash, and that calls with keys have what they need.
func (a *Auth) validateKeys(c cursor) {
	names, hashes := map[string]int{}, map[KeyHash]int{}
	for i := range a.Keys {
		k, at := &a.Keys[i], c.item("keys", i)
		if other, taken := names[k.Name]; taken && c.ok(at+".name") {
			c.errorf(at+".name", "is that of auth.keys[%d]; two keys of one name are two hashes of one entry", other)
		}
		names[k.Name] = i
		for j, hash := range k.Hash {
			if other, taken := hashes[hash]; taken && other != i && hash != "" {
				c.errorf(c.item(at+".hash", j), "is that of auth.keys[%d]: nothing would tell whose the key is", other)
			}
			hashes[hash] = i
		}
	}
	if len(a.Keys) > 0 {
		c.config().validateKeyCalls(c.loader)
	}
}

// validateKeyCalls reports settings that refuse all calls with API keys: they want claims, a token to exchange, or a user. Without issuers
// they refuse all calls, which is an error.
func (c *Config) validateKeyCalls(l *loader) {
	report := func(key, missing string) {
		switch {
		case !l.ok(key):
		case len(c.Auth.Issuers) == 0:
			l.errorf(key, "needs auth.issuers: %s", missing)
		default:
			l.warnf(key, "%s, so calls with one of auth.keys are refused", missing)
		}
	}
	for i := range c.Rules {
		at := fmt.Sprintf("rules[%d].set", i)
		if namesClaims(c.Rules[i].Set.Condition) {
			report(at+".condition", "keys have no claims")
		}
		for _, name := range slices.Sorted(maps.Keys(c.Rules[i].Set.Arguments)) {
			if argument := c.Rules[i].Set.Arguments[name]; argument != nil && argument.Claim != "" {
				report(at+".arguments."+name+".claim", "keys have no claims")
			}
		}
	}
	for i := range c.APIs {
		at := c.KeyOf(i)
		if r := c.APIs[i].Request; r != nil {
			for place, values := range map[string]map[string]*RequestValue{"headers": r.Headers, "query": r.Query} {
				for name, value := range values {
					if value.Claim != "" {
						report(at+".request."+place+"."+name+".claim", "keys have no claims")
					}
				}
			}
		}
		keys, credentials := c.APIs[i].AllCredentials()
		for n, credential := range credentials {
			switch {
			case credential.Type.NeedsCaller():
				report(at+"."+keys[n]+".type", "keys are not exchanged for tokens")
			case credential.Type == CredentialAuthorizationCode:
				report(at+"."+keys[n]+".type", "keys belong to no user who could have an account")
			}
		}
	}
}

var (
	celText   = regexp.MustCompile(`"(\\.|[^"\\])*"|'(\\.|[^'\\])*'`)
	celClaims = regexp.MustCompile(`(^|[^.\w])claims\b`)
)

// namesClaims reports whether a condition uses claims and none of what a key has: with a principal it may hold for one.
func namesClaims(condition string) bool {
	condition = celText.ReplaceAllString(condition, `""`)
	return celClaims.MatchString(condition) && !strings.Contains(condition, "principal.")
}
