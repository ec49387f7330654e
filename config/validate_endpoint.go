package config

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

func (l *loader) endpoints(cfg *Config) {
	if l.given("endpoints") && len(cfg.Endpoints) == 0 && l.ok("endpoints") {
		l.errorf("endpoints", "is empty; leave it out")
	}
	for i := range cfg.Endpoints {
		e, key := &cfg.Endpoints[i], fmt.Sprintf("endpoints[%d]", i)
		if name := key + ".name"; e.Name != "" && l.ok(name) {
			switch {
			case !apiName.MatchString(e.Name):
				l.errorf(name, "%s must be a letter or digit, then letters, digits, _ and -, at most 40", quote(e.Name))
			case slices.ContainsFunc(cfg.Endpoints[:i], func(other MCPEndpoint) bool { return strings.EqualFold(other.Name, e.Name) }):
				l.errorf(name, "%s is listed twice", quote(e.Name))
			case !l.given(key + ".match"):
				l.known(cfg, name, e.Name)
			}
		}
		if match := key + ".match"; l.given(match) && len(e.Match) == 0 && l.ok(match) {
			l.errorf(match, "is empty; leave it out, or select something")
		}
		l.selectors(key+".match", e.Match)
		l.unknownAPIs(cfg, key+".match", e.Match)
		l.presentation(cfg, key, e.Pinned)
		l.most(key+".title", e.Title, 200)
		l.most(key+".instructions", e.Instructions, 4096)
		l.info(key+".info", e.Info)
		if e.Title != "" && e.Info != nil && e.Info.Title != "" {
			l.errorf(key+".info.title", "can't stand beside title, which is the same")
		}
		l.scopes(key+".default_scopes", e.DefaultScopes)
		if scopes := key + ".default_scopes"; l.given(scopes) && l.ok(scopes) {
			switch {
			case len(e.DefaultScopes) == 0:
				l.errorf(scopes, "is empty; leave it out")
			case l.ok("auth") && (cfg.Auth == nil || cfg.Auth.Anonymous):
				l.warnf(scopes, "has no effect: without auth.issuers nobody is asked for a token")
			}
		}
	}
}

// known wants an endpoint without selectors to have the name of an API, as far as all names are known.
func (l *loader) known(cfg *Config, key, name string) {
	var names []string
	for _, api := range cfg.APIs {
		if api.Name == "" {
			return
		}
		names = append(names, api.Name)
	}
	if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
		l.errorf(key, "without match an endpoint has the operations of the API that has its name, and none is named %s%s", quote(name),
			text.DidYouMean(text.Nearest(name, names)))
	}
}
