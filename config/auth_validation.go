package config

import (
	"slices"
	"strings"
)

func (a *Auth) validate(c cursor) {
	if a.Anonymous {
		for _, key := range []string{"issuers", "keys", "default_scopes", "allow_unscoped", "implies", "hide_unauthorized", "dpop_nonce", "shared_audience", "registration"} {
			if c.given(key) {
				c.errorf(key, "can't stand beside anonymous: true, which asks nobody for a token")
			}
		}
		return
	}
	knowsURL := c.loader.ok("server", "server.public_url", "server.public_urls", "server.listen")
	switch {
	case !a.admits() && c.ok("issuers", "keys", "anonymous"):
		c.errorf("", "needs issuers, keys, or anonymous: true")
	case len(a.Issuers) > 0 && c.config().Resource() == "" && knowsURL:
		c.errorf("issuers", "need server.public_url: tokens are issued for that URL followed by /mcp, and %q does not tell it", c.config().Server.Listen)
	case len(a.Keys) > 0 && c.config().Resource() == "" && knowsURL:
		c.errorf("keys", "need server.public_url: the URL to which clients send them, which %q does not tell", c.config().Server.Listen)
	}
	if a.admits() && len(a.DefaultScopes) == 0 && !a.AllowUnscoped && c.ok("default_scopes", "allow_unscoped") {
		c.errorf("default_scopes", "is required with issuers and keys: operations without a rule of their own need its "+
			"scopes; write allow_unscoped: true if any valid token or key may call them")
	}
	if a.SharedAudience && len(c.config().configuredURLs()) < 2 && c.ok("shared_audience") && c.loader.ok("server.public_url", "server.public_urls") {
		c.errorf("shared_audience", "needs server.public_urls: with one URL there is nothing to share")
	}
	a.validateKeys(c)
	for scope := range a.Implies {
		c.check("implies."+scope, checkScope(scope))
	}
	if a.DPoPNonce && c.ok("dpop_nonce") && !c.config().hasDPoP() {
		c.errorf("dpop_nonce", "needs an issuer with dpop: accept or require")
	}
}

// admits reports whether there are callers with tokens or keys.
func (a *Auth) admits() bool { return len(a.Issuers)+len(a.Keys) > 0 }

// hasDPoP reports whether an issuer may have tokens that are bound to a key.
func (c *Config) hasDPoP() bool {
	return c.Auth != nil && slices.ContainsFunc(c.Auth.Issuers, func(is Issuer) bool { return is.DPoP != DPoPOff })
}

func (is *Issuer) validate(c cursor) {
	earlier := before(c.config().Auth.Issuers, is)
	if u := is.Issuer; u.URL() != nil && c.ok("issuer") {
		switch wrong := presetIssuer(is.Preset, u.URL().Path); {
		case u.URL().Scheme != "https" && !u.Loopback():
			c.errorf("issuer", "must be https: keys that anybody on the way could change prove nothing")
		case slices.ContainsFunc(earlier, func(other Issuer) bool { return overlap(other.Identifiers(), is.Identifiers()) }):
			c.errorf("issuer", "is listed twice")
		case wrong != "":
			c.errorf("issuer", "%s", wrong)
		default:
			is.validateTemplate(c)
		}
	}
	if !c.given("audiences") && c.ok("audiences", "preset") {
		if why := is.needsAudiences(); why != "" {
			c.errorf("audiences", "is required with preset %s, %s", is.Preset, why)
		}
	}
	if !c.ok("", "tokens", "preset", "introspection") {
		return
	}
	if first := slices.IndexFunc(earlier, func(other Issuer) bool { return other.Opaque() }); is.Opaque() && first >= 0 {
		c.errorf("", "has opaque tokens as auth.issuers[%d] has: nothing would tell whose a token is, so only one issuer may have them", first)
	}
	switch {
	case is.Introspection == nil && is.Opaque() && is.Preset != "google":
		c.errorf("introspection", "is required for opaque tokens: the issuer is asked about each; {} asks where its metadata says, without a client")
	case is.Introspection != nil && !is.Opaque():
		c.errorf("introspection", "can't stand with tokens: jwt, which are verified with the issuer's keys; write tokens: opaque")
	}
}

// validateTemplate checks that an issuer is a template if it has directories, and else none.
func (is *Issuer) validateTemplate(c cursor) {
	issuer := is.Issuer.String()
	before, after, isTemplate := strings.Cut(issuer, directoryPlaceholder)
	switch {
	case c.given("directories") && !isTemplate:
		c.errorf("directories", "need %s in issuer, such as https://login.microsoftonline.com/%[1]s/v2.0", directoryPlaceholder)
	case c.given("directories") && is.Opaque():
		c.errorf("directories", "can't stand with opaque tokens, which the issuer is asked about")
	case c.given("directories"):
		c.check("issuer", checkIssuer(before+after))
	case isTemplate:
		c.errorf("issuer", "has the placeholder %s, which no token has in iss; list the ids of the directories in directories, or write the id of the one directory", quote(directoryPlaceholder))
	default:
		c.check("issuer", checkIssuer(issuer))
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// needsAudiences tells why audiences must be given with a preset whose tokens don't name the gateway; "" if they need not.
func (is *Issuer) needsAudiences() string {
	switch {
	case is.Preset == "google" || is.Preset == "dex":
		return "whose tokens are for the client that asked for them: list the client ids"
	case is.Preset == "entra":
		return "whose tokens are for the application id of the API: list that"
	case is.Preset == "cognito" && len(is.ClientIDs) == 0:
		return "or client_ids: without a resource in the request its tokens name no audience"
	}
	return ""
}

// presetIssuer returns the fault of an issuer identifier that the provider does not use; "" for no fault.
func presetIssuer(p Preset, path string) string {
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case p == "auth0" && path == "":
		return "must end with a slash, as the tokens of Auth0 have it"
	case p == "okta" && first != "oauth2":
		return "must be that of a custom authorization server, https://…/oauth2/ID: the tokens of the org's own are for Okta alone"
	case p == "entra" && (first == "common" || first == "organizations" || first == "consumers"):
		return "must have the id of the directory instead of " + first + ", as tokens have it, or {tenantid} and the ids in directories"
	case p == "keycloak" && path == "":
		return "must be that of a realm, https://…/realms/NAME"
	}
	return ""
}
