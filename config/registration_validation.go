package config

import (
	"slices"
	"strings"
)

// ownParameters are the parameters of an authorization request that the gateway sets itself.
var ownParameters = []string{"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge", "code_challenge_method", "request", "request_uri"}

func (reg *Registration) validate(c cursor) {
	auth := c.config().Auth
	listed := func(is Issuer) bool { return reg.Issuer != nil && is.Issuer.String() == reg.Issuer.String() }
	switch {
	case reg.Issuer == nil && len(auth.Issuers) > 1 && c.ok("issuer"):
		c.errorf("issuer", "is required with several auth.issuers: name the one in front of which clients register")
	case reg.Issuer != nil && len(auth.Issuers) > 0 && c.ok("issuer") && !slices.ContainsFunc(auth.Issuers, listed):
		c.errorf("issuer", "is not one of auth.issuers, so the gateway would not accept its tokens")
	}
	if provider := auth.Provider(); provider != nil && provider.DPoP == DPoPRequire && c.ok("", "issuer") {
		c.errorf("", "can't stand beside dpop: require of the issuer: clients that log in here get bearer tokens")
	}
	server := &c.config().Server
	if len(server.SealKeys) == 0 && server.SealKeyFile == "" && c.loader.ok("server.seal_keys", "server.seal_key_file") {
		c.errorf("", "needs server.seal_keys or server.seal_key_file: clients keep their registration sealed, and would be unknown after a restart")
	}
	for name := range reg.Parameters {
		if slices.Contains(ownParameters, name) {
			c.errorf("parameters."+name, "is set by the gateway itself")
		}
	}
	for i, scope := range reg.Scopes {
		c.check(c.item("scopes", i), checkScope(scope))
	}
	if !reg.ForwardScopes && reg.ScopePrefix != "" && c.ok("scope_prefix", "forward_scopes") {
		c.errorf("scope_prefix", "has no use with forward_scopes: false")
	}
	if reg.ScopePrefix != "" {
		c.check("scope_prefix", checkScope(reg.ScopePrefix))
	}
	for i, host := range reg.RedirectHosts {
		if host == "" || strings.ContainsAny(host, "/:*@ ") {
			c.errorf(c.item("redirect_hosts", i), "must be a host name without scheme, port, path and wildcard, not %q", host)
		}
	}
}
