package auth

import "slices"

// Preset returns the usual settings for a provider: an [Issuer] in which only the
// fields that differ from the defaults are set, to be completed by
// [Issuer.WithDefaults]. The names are those of [Presets].
//
//	name      issuer identifier                                 "typ"        client            scopes                 audience
//	keycloak  https://HOST/realms/REALM                         JWT          azp               scope                  needs an audience mapper
//	entra     https://login.microsoftonline.com/TENANT/v2.0     JWT          azp               scp, else roles        application id of the API
//	auth0     https://TENANT.auth0.com/ (with the slash)        JWT, at+jwt  azp or client_id  scope                  identifier of the API
//	okta      https://ORG.okta.com/oauth2/SERVER                none         cid               scp, a list            that of the authorization server
//	cognito   https://cognito-idp.REGION.amazonaws.com/POOL     none         client_id         scope                  none: set ClientIDs; or the resource
//	google    https://accounts.google.com                       opaque       azp               scope                  the client id
//	dex       as configured                                     none         azp, if any       groups                 the client id
//	hydra     as configured                                     JWT          client_id         scp, a list, or scope  what the client may ask for
//
// Each requires a subject, which these providers put into every valid token. A
// Keycloak without the client scope "basic" omits it from the tokens of users, and
// all users of a client would be one principal.
//
// Keycloak states the kind of a token in the claim "typ": Bearer or DPoP, or else
// ID, Refresh and so on. Servers before 25 put "nonce" into access tokens, so that
// claim alone does not mark an ID token. Roles can be used as scopes: ScopeClaims
// /realm_access/roles.
//
// Entra ID issues tokens of version 2.0 only if the API's manifest says so
// (requestedAccessTokenVersion 2); others have another issuer, and may have the
// application ID URI as audience. TENANT is the GUID. Tokens for a user have scp,
// those for an application have roles. Clients request URI/NAME, where URI is the
// application ID URI, and get NAME: let NAME imply URI/NAME. ID tokens have no azp.
//
// Okta's org authorization server (without /oauth2/…) issues tokens for Okta
// alone: use a custom one.
//
// Cognito marks tokens with token_use. Without a resource in the request its
// access tokens have no audience, and then ClientIDs is what keeps the tokens of
// other applications out.
//
// Google's access tokens are made for Google's APIs, and only its tokeninfo
// endpoint can read them. They are accepted for the applications that are listed
// as audiences, whatever resource they were requested for. Its identity tokens are
// ID tokens, and rejected.
//
// Dex makes access tokens like ID tokens, with the same claims, keys and audience.
// The ID token issued with a code has c_hash; that of a refresh can't be
// distinguished from an access token. Both are only given to the same client.
//
// Hydra's access tokens are opaque unless strategies.access_token is jwt. For
// opaque ones set Tokens and Introspection; the endpoint is on the admin port,
// /admin/oauth2/introspect. It supports "audience", not "resource": the audience is
// what the consent application grants.
func Preset(name string) (Issuer, bool) {
	for _, p := range presets() {
		if p.name == name {
			return p.issuer, true
		}
	}
	return Issuer{}, false
}

// Presets returns the names that [Preset] knows.
func Presets() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

type preset struct {
	name   string
	issuer Issuer
}

// presets are the rows of the table at [Preset]. The documentation of each claim
// is in testdata/presets.
func presets() []preset {
	return []preset{
		{"keycloak", Issuer{
			Types: []string{"JWT"}, RequireClient: true, RequireSubject: true,
			IDTokenClaims: []string{"at_hash", "c_hash", "s_hash"},
		}},
		{"entra", Issuer{Types: []string{"JWT"}, RequireClient: true, RequireSubject: true, ScopeClaims: []string{"scp", "roles"}}},
		{"auth0", Issuer{Types: []string{"JWT"}, RequireClient: true, RequireSubject: true}},
		{"okta", Issuer{Types: []string{""}, RequireClient: true, RequireSubject: true}},
		{"cognito", Issuer{Types: []string{""}, RequireClient: true, RequireSubject: true}},
		{"google", Issuer{
			URL: "https://accounts.google.com", Tokens: Opaque, RequireClient: true, RequireSubject: true,
			Introspection: &Introspection{Endpoint: "https://oauth2.googleapis.com/tokeninfo", TokenInfo: true},
		}},
		{"dex", Issuer{Types: []string{""}, RequireSubject: true, IDTokenClaims: []string{"c_hash"}, ScopeClaims: []string{"groups"}}},
		{"hydra", Issuer{Types: []string{"JWT"}, RequireClient: true, RequireSubject: true, ScopeClaims: []string{"scp", "scope"}}},
	}
}

// WithDefaults returns the issuer with the fields that are zero taken from d.
func (i Issuer) WithDefaults(d Issuer) Issuer {
	fill(&i.URL, d.URL)
	fill(&i.Tokens, d.Tokens)
	if i.Introspection == nil {
		i.Introspection = d.Introspection
	} else if d.Introspection != nil {
		own := *i.Introspection
		fill(&own.Endpoint, d.Introspection.Endpoint)
		fill(&own.TokenInfo, d.Introspection.TokenInfo)
		i.Introspection = &own
	}
	fillList(&i.Audiences, d.Audiences)
	fillList(&i.ClientIDs, d.ClientIDs)
	fill(&i.RequireClient, d.RequireClient)
	fill(&i.RequireSubject, d.RequireSubject)
	fillList(&i.IDTokenClaims, d.IDTokenClaims)
	fillList(&i.ScopeClaims, d.ScopeClaims)
	fill(&i.MaxLifetime, d.MaxLifetime)
	fill(&i.DPoP, d.DPoP)
	fillList(&i.Algorithms, d.Algorithms)
	fillList(&i.Types, d.Types)
	fill(&i.Skew, d.Skew)
	fill(&i.Client, d.Client)
	return i
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func fillList(field *[]string, value []string) {
	if len(*field) == 0 {
		*field = value
	}
}
