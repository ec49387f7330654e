package config

// Registration makes the gateway the authorization server at which MCP clients register and log in, in front of a provider that does not
// register them (see auth.md). Tokens are the provider's.
type Registration struct {
	// The provider: the issuer identifier of one of auth.issuers, whose ca_file and proxy are used. It must be an OpenID provider.
	Issuer *URL `yaml:"issuer,omitempty" absent:"the only one of auth.issuers" access:"none: tokens are accepted as auth.issuers says"`
	// The client id of the gateway at the provider. Its redirect URI there is public_url (the first of public_urls) with /oauth/callback.
	ClientID string `yaml:"client_id" required:"true" access:"none: tokens are accepted as auth.issuers says"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"a public client" access:"none: secrets and keys are rotated"`
	// Scopes that are always requested from the provider, besides openid and those that the client requests. Refresh tokens often need
	// offline_access.
	Scopes []string `yaml:"scopes,omitempty" absent:"none" access:"none: requested from the provider; its tokens are compared with what operations require" unique:"%q is listed twice" count:"50 scopes"`
	// The prefix that the provider demands of scopes that clients request, such as api://ID/ with Entra ID. Those of OpenID Connect
	// have none.
	ScopePrefix string `yaml:"scope_prefix,omitempty" absent:"none" access:"none: requested from the provider; its tokens are compared with what operations require" length:"200"`
	// Requests the scopes that clients request from the provider. With false it gets scopes alone, for providers that know no others,
	// such as Dex and Google.
	ForwardScopes bool `yaml:"forward_scopes" default:"true" access:"none: requested from the provider; its tokens are compared with what operations require"`
	// Further parameters of requests to the provider's authorization endpoint, such as audience with Auth0.
	Parameters map[string]string `yaml:"parameters,omitempty" absent:"none" access:"none: requested from the provider; its tokens are compared with what operations require"`
	// The hosts that https redirect URIs of clients may have. Applications on the user's machine, with a loopback address or a scheme of
	// their own, are always allowed.
	RedirectHosts []string `yaml:"redirect_hosts,omitempty" absent:"any: the consent page names the host" access:"subset" empty:"leave it out" unique:"%q is listed twice" count:"100 hosts"`
}

// Provider returns the issuer in front of which clients register; nil if Registration is.
func (a *Auth) Provider() *Issuer {
	if a.Registration == nil {
		return nil
	}
	for i := range a.Issuers {
		if is := &a.Issuers[i]; a.Registration.Issuer == nil || is.Issuer.String() == a.Registration.Issuer.String() {
			return is
		}
	}
	return nil
}
