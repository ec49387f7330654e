package config

import "net/url"

// Auth is the authentication and authorization of callers. Either Anonymous is true or there is at least one issuer or key.
type Auth struct {
	// Serves all callers without a token, on any address. Excludes all other keys of auth.
	Anonymous bool `yaml:"anonymous" default:"false" access:"joint: auth"`
	// The authorization servers whose access tokens are accepted.
	Issuers []Issuer `yaml:"issuers,omitempty" absent:"none" access:"each: issuer"`
	// Keys of callers that have no token, such as scripts.
	Keys []APIKey `yaml:"keys,omitempty" absent:"none" access:"each: name" count:"1000 keys"`
	// The scopes that a call requires if no rule sets scopes for its operation.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"an error with issuers or keys, unless allow_unscoped is true" access:"scopes" is:"scope" unique:"%q is listed twice"`
	// Lets any valid token or key call operations that require no scope.
	AllowUnscoped bool `yaml:"allow_unscoped" default:"false" access:"grants"`
	// Scopes that include other scopes, transitively. Names are compared exactly.
	Implies map[string][]string `yaml:"implies,omitempty" absent:"none" access:"joint: implied scopes" is:"scope" unique:"%q is listed twice"`
	// Hides tools that the caller's scopes don't permit. Clients then can't request the missing scopes.
	HideUnauthorized bool `yaml:"hide_unauthorized" default:"false" access:"restricts"`
	// Accepts a token that names one of server.public_urls at each of them.
	SharedAudience bool `yaml:"shared_audience" default:"false" access:"grants"`
	// Requires a nonce of the gateway in DPoP proofs (RFC 9449 section 9). Needs an issuer with dpop.
	DPoPNonce bool `yaml:"dpop_nonce" default:"false" access:"restricts"`
	// Registers MCP clients in front of a provider that does not, such as Entra ID or Okta, and logs their users in there.
	Registration *Registration `yaml:"registration,omitempty" absent:"clients register at the provider, or are configured" access:"section"`
}

// HasIssuers reports whether callers may have tokens. The receiver may be nil.
func (a *Auth) HasIssuers() bool { return a != nil && len(a.Issuers) > 0 }

// HasKeys reports whether callers may have keys. The receiver may be nil.
func (a *Auth) HasKeys() bool { return a != nil && len(a.Keys) > 0 }

// Issuer is an authorization server whose access tokens are accepted: JWTs (RFC 9068), or opaque ones that it is asked
// about (RFC 7662).
type Issuer struct {
	// The issuer identifier, compared exactly with iss: https, or http for loopback. With directories it is a template.
	Issuer URL `yaml:"issuer" required:"true" access:"joint: entry"`
	// The directories of Entra ID whose tokens are accepted, by their ids. Each replaces {tenantid} in the issuer, is an issuer with
	// keys of its own, and must be the tid of its tokens.
	Directories []DirectoryID `yaml:"directories,omitempty" absent:"the issuer is no template" access:"grants" empty:"list the ids of the directories" count:"100 directories" unique:"%v is listed twice"`
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
	// The gateway's own client at the issuer. With it, users show who they are before they connect their account at a service
	// (credentials of type authorization_code). The issuer must be an OpenID provider.
	Login *IssuerLogin `yaml:"login,omitempty" absent:"users of the issuer can't connect accounts" access:"section"`
	// The proxy for the issuer's metadata, keys and introspection.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the root's proxy" access:"none: keys and metadata are fetched over TLS"`
}

// IssuerLogin is the gateway's client at an issuer that logs users in. Its redirect URI there is public_url (the first of
// public_urls) with /account/login/ and the issuer without https://, such as /account/login/idp.example.com/realms/main. With
// directories, each has its own.
type IssuerLogin struct {
	// The client id.
	ClientID string `yaml:"client_id" required:"true" access:"none: how the gateway authenticates to the issuer"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"a public client" access:"none: secrets and keys are rotated"`
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

// LoginPath returns the path of the redirect URI of [Issuer.Login], below the public URL, for an identifier of the issuer.
func LoginPath(identifier string) string {
	u, err := url.Parse(identifier)
	if err != nil {
		return ""
	}
	return "/account/login/" + u.Host + u.EscapedPath()
}
