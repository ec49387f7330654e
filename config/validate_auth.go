package config

import (
	"fmt"
	"slices"
	"strings"
)

func (l *loader) auth(cfg *Config) {
	a := cfg.Auth
	if a == nil {
		return
	}
	if a.Anonymous {
		for _, key := range []string{"issuers", "default_scopes", "allow_unscoped", "implies", "hide_unauthorized", "dpop_nonce", "shared_audience"} {
			if l.given("auth." + key) {
				l.errorf("auth."+key, "can't stand beside anonymous: true, which asks nobody for a token")
			}
		}
		return
	}
	if len(a.Issuers) == 0 && l.ok("auth.issuers", "auth.anonymous") {
		l.errorf("auth", "needs issuers, or anonymous: true")
	}
	if len(a.Issuers) > 0 && cfg.Resource() == "" && l.ok("server", "server.public_url", "server.public_urls", "server.listen") {
		l.errorf("auth.issuers", "need server.public_url: tokens are issued for that URL followed by /mcp, and %q does "+
			"not tell it", cfg.Server.Listen)
	}
	if len(a.Issuers) > 0 && len(a.DefaultScopes) == 0 && !a.AllowUnscoped &&
		l.ok("auth.default_scopes", "auth.allow_unscoped") {
		l.errorf("auth.default_scopes", "is required with issuers: operations without a rule of their own need its "+
			"scopes; write allow_unscoped: true if any valid token may call them")
	}
	if a.SharedAudience && len(cfg.configuredURLs()) < 2 && l.ok("auth.shared_audience", "server.public_url", "server.public_urls") {
		l.errorf("auth.shared_audience", "needs server.public_urls: with one URL there is nothing to share")
	}
	l.scopes("auth.default_scopes", a.DefaultScopes)
	for scope, granted := range a.Implies {
		key := "auth.implies." + scope
		if checkScope(scope) != nil && l.ok(key) {
			l.errorf(key, "%s", errScope)
		}
		l.scopes(key, granted)
	}
	if a.DPoPNonce && l.ok("auth.dpop_nonce") && !slices.ContainsFunc(a.Issuers, func(is Issuer) bool { return is.DPoP != DPoPOff }) {
		l.errorf("auth.dpop_nonce", "needs an issuer with dpop: accept or require")
	}
	for i := range a.Issuers {
		l.issuer(fmt.Sprintf("auth.issuers[%d]", i), &a.Issuers[i], a.Issuers[:i])
	}
}

func (l *loader) issuer(key string, is *Issuer, earlier []Issuer) {
	l.issuerURL(key+".issuer", is, earlier)
	l.audiences(key, is)
	if len(is.Algorithms) == 0 && l.ok(key, key+".algorithms") {
		l.errorf(key+".algorithms", "is empty")
	}
	for _, list := range []struct {
		name  string
		items int
	}{
		{"client_ids", len(is.ClientIDs)}, {"id_token_claims", len(is.IDTokenClaims)}, {"scope_claims", len(is.ScopeClaims)},
	} {
		if k := key + "." + list.name; list.items == 0 && l.given(k) && l.ok(k) {
			l.errorf(k, "is empty; leave it out")
		}
	}
	for i, name := range is.ScopeClaims {
		if k := fmt.Sprintf("%s.scope_claims[%d]", key, i); strings.Trim(name, "/") == "" && l.ok(k) {
			l.errorf(k, "must be the name of a claim or a JSON Pointer, such as /realm_access/roles")
		}
	}
	l.introspection(key, is, earlier)
	l.authority(key+".ca_file", is.CAFile)
}

// issuerURL checks the issuer identifier.
func (l *loader) issuerURL(key string, is *Issuer, earlier []Issuer) {
	u := is.Issuer
	if u.URL() == nil || !l.ok(key) {
		return
	}
	switch wrong := presetIssuer(is.Preset, u.URL().Path); {
	case u.URL().Scheme != "https" && !u.Loopback():
		l.errorf(key, "must be https: keys that anybody on the way could change prove nothing")
	case slices.ContainsFunc(earlier, func(other Issuer) bool { return other.Issuer.String() == u.String() }):
		l.errorf(key, "is listed twice")
	case wrong != "":
		l.errorf(key, "%s", wrong)
	}
}

// audiences checks that audiences are not empty, and that they are given with presets of providers whose tokens don't name the
// gateway.
func (l *loader) audiences(key string, is *Issuer) {
	k := key + ".audiences"
	if l.given(k) {
		if len(is.Audiences) == 0 && l.ok(k) {
			l.errorf(k, "is empty; a token for nobody in particular is never accepted")
		}
		return
	}
	if !l.ok(key, key+".preset") {
		return
	}
	switch {
	case is.Preset == "google" || is.Preset == "dex":
		l.errorf(k, "is required with preset %s, whose tokens are for the client that asked for them: list the client ids", is.Preset)
	case is.Preset == "entra":
		l.errorf(k, "is required with preset entra, whose tokens are for the application id of the API: list that")
	case is.Preset == "cognito" && len(is.ClientIDs) == 0:
		l.errorf(k, "is required with preset cognito, or client_ids: without a resource in the request its tokens name no audience")
	}
}

// presetIssuer says what no issuer identifier of a provider looks like.
func presetIssuer(p Preset, path string) string {
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case p == "auth0" && path == "":
		return "must end with a slash, as the tokens of Auth0 have it"
	case p == "okta" && first != "oauth2":
		return "must be that of a custom authorization server, https://…/oauth2/ID: the tokens of the org's own are for Okta alone"
	case p == "entra" && (first == "common" || first == "organizations" || first == "consumers"):
		return "must have the id of the directory in the place of " + first + ", as tokens have it"
	case p == "keycloak" && path == "":
		return "must be that of a realm, https://…/realms/NAME"
	}
	return ""
}

// introspection checks what belongs to opaque tokens. A preset may bring some of it.
func (l *loader) introspection(key string, is *Issuer, earlier []Issuer) {
	if !l.ok(key, key+".tokens", key+".preset", key+".introspection") {
		return
	}
	if is.Opaque() {
		for i := range earlier {
			if earlier[i].Opaque() {
				l.errorf(key, "has opaque tokens as auth.issuers[%d] has: nothing would tell whose a token is, so only one issuer may have them", i)
				break
			}
		}
	}
	in := is.Introspection
	switch {
	case in == nil && is.Opaque() && is.Preset != "google":
		l.errorf(key+".introspection", "is required for opaque tokens: the issuer is asked about each; {} asks where its metadata says, without a client")
		return
	case in == nil:
		return
	case !is.Opaque():
		l.errorf(key+".introspection", "can't stand with tokens: jwt, which are verified with the issuer's keys; write tokens: opaque")
		return
	}
	key += ".introspection"
	if u := in.Endpoint; u != nil && u.URL().Scheme != "https" && !u.Loopback() && l.ok(key+".endpoint") {
		l.errorf(key+".endpoint", "must be https, because tokens travel to it")
	}
	switch secret := !in.ClientSecret.IsZero(); {
	case in.ClientID != "" && !secret && l.ok(key+".client_secret"):
		l.errorf(key+".client_secret", "is required with client_id")
	case in.ClientID == "" && secret && l.ok(key+".client_id"):
		l.errorf(key+".client_id", "is required with client_secret")
	case in.ClientID == "" && l.given(key+".client_auth") && l.ok(key+".client_auth", key+".client_id"):
		l.errorf(key+".client_auth", "has no use without client_id")
	}
}

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
