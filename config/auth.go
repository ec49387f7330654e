package config

import (
	"slices"
	"strings"
)

// Auth says who may call. Either Anonymous is true or there is at least one issuer.
type Auth struct {
	// Serves all callers without a token, on any address. Excludes all other keys of auth.
	Anonymous bool `yaml:"anonymous" default:"false" access:"joint: auth"`
	// The authorization servers whose access tokens are accepted.
	Issuers []Issuer `yaml:"issuers,omitempty" absent:"none" access:"each: issuer"`
	// The scopes that a call requires if no rule sets scopes for its operation.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"an error with issuers, unless allow_unscoped is true" access:"scopes" is:"scope" unique:"%q is listed twice"`
	// Lets any valid token call operations that require no scope.
	AllowUnscoped bool `yaml:"allow_unscoped" default:"false" access:"grants"`
	// Scopes that include other scopes, transitively. Names are compared exactly.
	Implies map[string][]string `yaml:"implies,omitempty" absent:"none" access:"joint: implied scopes" is:"scope" unique:"%q is listed twice"`
	// Hides tools that the caller's scopes don't permit. Clients then can't request the missing scopes.
	HideUnauthorized bool `yaml:"hide_unauthorized" default:"false" access:"restricts"`
	// Accepts a token that names one of server.public_urls at each of them.
	SharedAudience bool `yaml:"shared_audience" default:"false" access:"grants"`
	// Requires a nonce of the gateway in DPoP proofs (RFC 9449 section 9). Needs an issuer with dpop.
	DPoPNonce bool `yaml:"dpop_nonce" default:"false" access:"restricts"`
}

func (a *Auth) validate(c cursor) {
	if a.Anonymous {
		for _, key := range []string{"issuers", "default_scopes", "allow_unscoped", "implies", "hide_unauthorized", "dpop_nonce", "shared_audience"} {
			if c.given(key) {
				c.errorf(key, "can't stand beside anonymous: true, which asks nobody for a token")
			}
		}
		return
	}
	knowsURL := c.loader.ok("server", "server.public_url", "server.public_urls", "server.listen")
	switch {
	case len(a.Issuers) == 0 && c.ok("issuers", "anonymous"):
		c.errorf("", "needs issuers, or anonymous: true")
	case len(a.Issuers) > 0 && c.cfg.Resource() == "" && knowsURL:
		c.errorf("issuers", "need server.public_url: tokens are issued for that URL followed by /mcp, and %q does not tell it", c.cfg.Server.Listen)
	}
	if len(a.Issuers) > 0 && len(a.DefaultScopes) == 0 && !a.AllowUnscoped && c.ok("default_scopes", "allow_unscoped") {
		c.errorf("default_scopes", "is required with issuers: operations without a rule of their own need its "+
			"scopes; write allow_unscoped: true if any valid token may call them")
	}
	if a.SharedAudience && len(c.cfg.configuredURLs()) < 2 && c.ok("shared_audience") && c.loader.ok("server.public_url", "server.public_urls") {
		c.errorf("shared_audience", "needs server.public_urls: with one URL there is nothing to share")
	}
	for scope := range a.Implies {
		c.check("implies."+scope, checkScope(scope))
	}
	if a.DPoPNonce && c.ok("dpop_nonce") && !c.cfg.hasDPoP() {
		c.errorf("dpop_nonce", "needs an issuer with dpop: accept or require")
	}
}

// hasDPoP reports whether an issuer may have tokens that are bound to a key.
func (c *Config) hasDPoP() bool {
	return c.Auth != nil && slices.ContainsFunc(c.Auth.Issuers, func(is Issuer) bool { return is.DPoP != DPoPOff })
}

// Issuer is an authorization server whose access tokens are accepted: JWTs (RFC 9068), or opaque ones that it is asked
// about (RFC 7662).
type Issuer struct {
	// The issuer identifier, compared exactly with iss: https, or http for loopback.
	Issuer URL `yaml:"issuer" need:"true" access:"joint: entry"`
	// The settings for a provider (see auth.md), which other keys override.
	Preset Preset `yaml:"preset,omitempty" absent:"none: the standards" access:"any"`
	// The kind of access tokens: jwt are verified with the issuer's keys, opaque ones are introspected. Only one issuer
	// may be opaque.
	Tokens TokenKind `yaml:"tokens,omitempty" absent:"jwt, or from the preset" access:"joint: opaque tokens"`
	// How opaque tokens are introspected.
	Introspection *Introspection `yaml:"introspection,omitempty" absent:"required for opaque tokens, or from the preset" access:"section"`
	// Values of the aud claim, of which a token must have at least one.
	Audiences []string `yaml:"audiences" absent:"the resource identifiers: public_url, or each of public_urls, + /mcp" access:"grants" empty:"a token for nobody in particular is never accepted"`
	// The clients whose tokens are accepted. For a token without aud this replaces the audience check.
	ClientIDs []string `yaml:"client_ids,omitempty" absent:"all clients" access:"subset" empty:"leave it out"`
	// Rejects tokens that don't name their client (client_id, azp, cid or appid).
	RequireClient bool `yaml:"require_client,omitempty" absent:"false, or true with a preset that needs it" access:"restricts"`
	// Claims that mark an ID token, which is rejected.
	IDTokenClaims []IDTokenClaim `yaml:"id_token_claims,omitempty" absent:"all four, or from the preset" access:"superset" empty:"leave it out"`
	// Claims that may contain the scopes; the first that a token has is used. A name that begins with / is a JSON
	// Pointer.
	ScopeClaims []string `yaml:"scope_claims,omitempty" absent:"scope and scp, or from the preset" access:"any" empty:"leave it out" is:"role-claim"`
	// The maximum lifetime of an accepted token, from iat or now to exp.
	MaxLifetime Duration `yaml:"max_lifetime,omitempty" min:"1m" max:"8760h" absent:"any; a lifetime of more than a day is a warning" access:"limit"`
	// Tokens that are bound to a key (DPoP, RFC 9449): off rejects them, accept allows them with a proof, require
	// accepts no others.
	DPoP DPoP `yaml:"dpop" default:"off" access:"restricts: require; grants: accept"`
	// Accepted signature algorithms. Symmetric algorithms and none are not allowed.
	Algorithms []Algorithm `yaml:"algorithms" default:"[RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA]" access:"grants" empty:""`
	// Accepted values of the typ header besides at+jwt: usually JWT, or none for tokens without it.
	AcceptTyp []string `yaml:"accept_typ,omitempty" absent:"none, or from the preset" access:"grants"`
	// The maximum difference between the clocks of the issuer and of the gateway.
	Skew Duration `yaml:"skew" default:"60s" min:"0s" max:"5m" access:"grants"`
	// PEM certificates that are trusted for this issuer instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" access:"any" pem:"certificates"`
	// The proxy for the issuer's metadata, keys and introspection.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy" access:"none: keys and metadata are fetched over TLS"`
}

func (is *Issuer) validate(c cursor) {
	earlier := before(c.cfg.Auth.Issuers, is)
	if u := is.Issuer; u.URL() != nil && c.ok("issuer") {
		switch wrong := presetIssuer(is.Preset, u.URL().Path); {
		case u.URL().Scheme != "https" && !u.Loopback():
			c.errorf("issuer", "must be https: keys that anybody on the way could change prove nothing")
		case slices.ContainsFunc(earlier, func(other Issuer) bool { return other.Issuer.String() == u.String() }):
			c.errorf("issuer", "is listed twice")
		case wrong != "":
			c.errorf("issuer", "%s", wrong)
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

// Introspection is how the issuer of opaque tokens is asked about one (RFC 7662).
type Introspection struct {
	// The URL of the introspection endpoint. https, or http for a loopback host.
	Endpoint *URL `yaml:"endpoint,omitempty" absent:"from the issuer's metadata" access:"any" https:", because tokens travel to it"`
	// The client id of the gateway at the issuer.
	ClientID string `yaml:"client_id,omitempty" absent:"no authentication" access:"none: how the gateway authenticates to the issuer" required-with:"client_secret"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"required with client_id" access:"none: secrets and keys are rotated" required-with:"client_id"`
	// How client id and secret are sent (RFC 6749 section 2.3.1).
	ClientAuth IntrospectionAuth `yaml:"client_auth" default:"client_secret_basic" access:"none: how the gateway authenticates to the issuer"`
	// The maximum introspections per second, with a burst of five times as many. Beyond it, uncached tokens get 503.
	Rate int `yaml:"rate" default:"100" min:"1" max:"10000" access:"none: limits bound the cost of a call"`
}

func (in *Introspection) validate(c cursor) {
	if in.ClientID == "" && c.given("client_auth") && c.ok("client_auth", "client_id") {
		c.errorf("client_auth", "has no use without client_id")
	}
}

// Opaque reports whether the issuer is asked about its tokens, by its own key or by its preset.
func (is *Issuer) Opaque() bool {
	return is.Tokens == TokensOpaque || is.Tokens == "" && is.Preset == "google"
}
