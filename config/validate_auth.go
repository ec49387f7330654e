package config

import (
	"fmt"
	"slices"
	"strings"
)

// documentScopes checks what a document's scopes are mapped to.
func (l *loader) documentScopes(cfg *Config, key string, api *API) {
	if l.given(key+".scopes_from_document") && api.ScopesFromDocument && (cfg.Auth == nil || cfg.Auth.Anonymous) && l.ok("auth") {
		l.warnf(key+".scopes_from_document", "has no effect: without auth.issuers nobody is asked for a token")
	}
	key += ".scope_map"
	if l.given(key) && !api.ScopesFromDocument && l.ok(key, strings.TrimSuffix(key, ".scope_map")+".scopes_from_document") {
		l.errorf(key, "has no use without scopes_from_document: true")
	}
	for scope, mapped := range api.ScopeMap {
		k := key + "." + scope
		if len(mapped) == 0 && l.ok(k) {
			l.errorf(k, "is empty; a scope of the document can't stand for none")
		}
		l.scopes(k, mapped)
	}
}

func (l *loader) scopes(key string, scopes []string) {
	for i, s := range scopes {
		k := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case !l.ok(k):
		case checkScope(s) != nil:
			l.errorf(k, "%s", errScope)
		case slices.Contains(scopes[:i], s):
			l.errorf(k, "%q is listed twice", s)
		}
	}
}

// needCallers records an error where nobody has a token.
func (l *loader) needCallers(cfg *Config, key, message string) {
	if l.ok("auth", "auth.issuers", key) && (cfg.Auth == nil || cfg.Auth.Anonymous) {
		l.errorf(key, "%s", message)
	}
}
