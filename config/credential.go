package config

import (
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"

	"drawbridge/openapi/text"
)

// Credential is what the gateway sends to authenticate itself to an upstream service.
type Credential struct {
	// How to authenticate. The types from client_credentials to jwt_assertion get a token from an authorization server:
	// for the gateway (RFC 6749), in exchange for the caller's token (RFC 8693, or the on-behalf-of flow of Entra ID) or
	// for a signed assertion (RFC 7523). authorization_code sends the token of the account that each caller has at the
	// service, who logs in there once. login gets a token or cookie from the service itself. digest (RFC 7616) and
	// aws_sigv4 sign each request.
	Type CredentialType `yaml:"type" required:"true"`
	// For bearer: the token (RFC 6750).
	Token Secret `yaml:"token,omitempty" absent:"required for bearer" access:"none: secrets and keys are rotated"`
	// For basic, digest and login: the user name, for basic (RFC 7617) and digest without a colon.
	Username string `yaml:"username,omitempty" absent:"required for basic, digest and login"`
	// For basic, digest and login: the password.
	Password Secret `yaml:"password,omitempty" absent:"required for basic, digest and login" access:"none: secrets and keys are rotated"`
	// For api_key and login: the location of the key or token.
	In KeyLocation `yaml:"in,omitempty" absent:"required for api_key; for login, cookie with login.token_cookie, else header"`
	// For api_key and login: the name of the header, the query parameter or the cookie.
	Name string `yaml:"name,omitempty" absent:"required for api_key; for login, Authorization or login.token_cookie"`
	// For api_key: the key.
	Value Secret `yaml:"value,omitempty" absent:"required for api_key" access:"none: secrets and keys are rotated"`
	// For login: the request, and the place of the token in its response.
	Login *Login `yaml:"login,omitempty" absent:"required for login"`
	// For aws_sigv4: the id of the key, which is part of requests.
	AccessKeyID string `yaml:"access_key_id,omitempty" absent:"required for aws_sigv4" access:"none: secrets and keys are rotated"`
	// For aws_sigv4: the signing key. It is never sent.
	SecretAccessKey Secret `yaml:"secret_access_key,omitempty" absent:"required for aws_sigv4" access:"none: secrets and keys are rotated"`
	// For aws_sigv4: the token of temporary credentials, which is sent with each request.
	SessionToken Secret `yaml:"session_token,omitempty" absent:"none, for permanent credentials" access:"none: secrets and keys are rotated"`
	// For aws_sigv4: the region of the endpoint, such as eu-west-1.
	Region string `yaml:"region,omitempty" absent:"required for aws_sigv4"`
	// For aws_sigv4: the service in signatures, such as execute-api, lambda, es, aoss or s3.
	Service string `yaml:"service,omitempty" absent:"required for aws_sigv4"`
	// The token endpoint: https, or http for loopback. Redirects are not followed.
	TokenURL Endpoint `yaml:"token_url,omitempty" absent:"required for the types with an authorization server" https:": secrets travel to it"`
	// For authorization_code: the authorization endpoint, where users log in. The redirect URI of the gateway is public_url
	// with /account/callback/NAME, where NAME is the name of the API.
	AuthorizeURL Endpoint `yaml:"authorize_url,omitempty" absent:"required for authorization_code" https:": users log in there"`
	// For authorization_code: the revocation endpoint (RFC 7009).
	RevokeURL Endpoint `yaml:"revoke_url,omitempty" absent:"tokens are not revoked at the service" https:": tokens travel to it"`
	// The client id of the gateway at the authorization server.
	ClientID string `yaml:"client_id,omitempty" absent:"required with token_url, unless client_auth is none"`
	// The client secret.
	ClientSecret Secret `yaml:"client_secret,omitempty" absent:"required for client_secret_basic and client_secret_post" access:"none: secrets and keys are rotated"`
	// How the gateway authenticates to the authorization server: a secret in the header or body, an assertion signed
	// with key_file, the certificate cert_file, or none (jwt_assertion and authorization_code only).
	ClientAuth ClientAuth `yaml:"client_auth,omitempty" absent:"client_secret_basic; for jwt_assertion and authorization_code without client_secret, none" access:"none: how the gateway authenticates, not its identity"`
	// The private key for assertions or for cert_file, PEM, unencrypted: RSA of 2048 to 8192 bits, P-256, P-384, P-521
	// or Ed25519.
	KeyFile File `yaml:"key_file,omitempty" absent:"required for private_key_jwt, tls_client_auth and jwt_assertion" access:"none: secrets and keys are rotated" pem:"key"`
	// The key id (kid) in assertions.
	KeyID string `yaml:"key_id,omitempty" absent:"the key's thumbprint (RFC 7638)" access:"none: secrets and keys are rotated"`
	// The signature algorithm of assertions.
	KeyAlgorithm Algorithm `yaml:"key_algorithm,omitempty" absent:"as the key is: RS256, ES256, ES384, ES512 or EdDSA" access:"none: secrets and keys are rotated"`
	// For tls_client_auth: a PEM file with the gateway's certificate and the intermediate certificates.
	CertFile File `yaml:"cert_file,omitempty" absent:"required for tls_client_auth" access:"none: secrets and keys are rotated" pem:"certificates"`
	// PEM certificates that are trusted for the authorization server, or an absolute login.url, instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
	// The proxy for the authorization server, or an absolute login.url.
	Proxy *Proxy `yaml:"proxy,omitempty" absent:"the API's proxy" access:"none: tokens are fetched over TLS"`
	// The scopes to request. For authorization_code, those that the document requires for the called operation are added.
	Scopes []string `yaml:"scopes,omitempty" absent:"none; required for on_behalf_of" is:"scope" unique:"%q is listed twice"`
	// The target services as absolute URIs (RFC 8707). token_exchange needs these or audiences.
	Resources []string `yaml:"resources,omitempty" absent:"none"`
	// The target services by their names at the authorization server (RFC 8693).
	Audiences []string `yaml:"audiences,omitempty" absent:"none"`
	// Further parameters of token requests, except those that the standards define.
	Parameters map[string]string `yaml:"parameters,omitempty" absent:"none"`
	// The assertion of jwt_assertion. For private_key_jwt only audience applies.
	Assertion *Assertion `yaml:"assertion,omitempty" absent:"the defaults of its keys"`
	// For token_exchange: the type of the caller's token.
	SubjectTokenType string `yaml:"subject_token_type,omitempty" absent:"urn:ietf:params:oauth:token-type:access_token"`
	// For token_exchange: the type of token to request.
	RequestedTokenType string `yaml:"requested_token_type,omitempty" absent:"none; an access token or a JWT is accepted"`
	// For token_exchange: further accepted values of aud. A JWT for another audience is not used. For on_behalf_of: all
	// accepted values.
	AcceptAudiences []string `yaml:"accept_audiences,omitempty" absent:"none; for on_behalf_of, any but those of the caller's token"`
	// For on_behalf_of: the issuer of callers' tokens, one of auth.issuers, to which token_url belongs. Tokens of other
	// issuers are not sent there.
	Issuer string `yaml:"issuer,omitempty" absent:"the issuer, if auth.issuers has one"`

	unset bool // a placeholder stands in it
}

// Unset reports whether the credential has a placeholder in place of a value: see [LoadOptions].
func (c *Credential) Unset() bool { return c.unset }

// Assertion is what a JWT says with which the gateway asks for a token (RFC 7523).
type Assertion struct {
	// The iss claim: the identity that the authorization server associates with the key.
	Issuer string `yaml:"issuer,omitempty" absent:"client_id"`
	// The sub claim: the account for which the token is issued.
	Subject string `yaml:"subject,omitempty" absent:"issuer"`
	// The aud claim: the authorization server's name for itself.
	Audience string `yaml:"audience,omitempty" absent:"token_url"`
	// The time from the iat to the exp claim.
	Lifetime Duration `yaml:"lifetime,omitempty" min:"1s" max:"10m" absent:"1m" access:"none: the lifetime of one assertion"`
	// Further claims, except iss, sub, aud, iat, exp, nbf and jti.
	Claims map[string]string `yaml:"claims,omitempty" absent:"none"`
}

// APIIdentity is the caller identity that a service receives.
type APIIdentity struct {
	// The aud claim: the name by which the service identifies itself.
	Audience string `yaml:"audience,omitempty" absent:"the name of the API, which is then required" access:"joint: identity"`
	// The name of the header.
	Header string `yaml:"header,omitempty" absent:"X-Drawbridge-Identity" access:"joint: identity"`
}

// ClientCertificate is what the gateway shows of itself in the TLS handshake.
type ClientCertificate struct {
	// A PEM file with the gateway's certificate and the intermediate certificates.
	CertFile File `yaml:"cert_file" required:"true" pem:"certificates"`
	// A PEM file with the unencrypted private key. It may be the same file.
	KeyFile File `yaml:"key_file" required:"true" pem:"key" access:"none: secrets and keys are rotated"`
}

// Identity is how the gateway signs what it tells services of callers.
type Identity struct {
	// PEM files with one P-256 private key each, at most 8. The first signs; all are published at
	// /.well-known/jwks.json.
	KeyFiles []File `yaml:"key_files" required:"true" empty:"" count:"8 files" unique:"is listed twice" pem:"key"`
	// How long an identity is valid.
	Lifetime Duration `yaml:"lifetime" default:"1m" min:"10s" max:"1m"`
}

// IsOAuth reports whether the credential is a token of an authorization server.
func (t CredentialType) IsOAuth() bool {
	return t == CredentialClientCredentials || t == CredentialJWTAssertion || t == CredentialAuthorizationCode || t.NeedsCaller()
}

// NeedsCaller reports whether the credential is a token for that of the caller.
func (t CredentialType) NeedsCaller() bool {
	return t == CredentialTokenExchange || t == CredentialOnBehalfOf
}

// Location returns the part of requests that has the credential, or most of it.
func (c *Credential) Location() (in KeyLocation, name string) {
	switch {
	case c.Type == CredentialAPIKey:
		return c.In, c.Name
	case c.Type == CredentialLogin && c.Login != nil:
		return c.Login.location(c.In, c.Name)
	}
	return KeyInHeader, "Authorization"
}

// Headers returns the headers in which the credential is sent.
func (c *Credential) Headers() []string {
	if c.Type == CredentialAWSSigV4 {
		return []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"}
	}
	switch in, name := c.Location(); in {
	case KeyInCookie:
		return []string{"Cookie"}
	case KeyInQuery:
		return nil
	default:
		return []string{name}
	}
}

// HeaderName returns the header that has the caller identity.
func (i *APIIdentity) HeaderName() string {
	if i.Header == "" {
		return "X-Drawbridge-Identity"
	}
	return i.Header
}

// credentialKeys returns the keys of a credential but for its type, in their order.
func credentialKeys() []string {
	var names []string
	for _, f := range fieldsOf(reflect.TypeFor[Credential]())[1:] {
		names = append(names, f.name)
	}
	return names
}

// derive fills in what depends on other keys.
func (c *Credential) derive(callers *Auth) {
	if c.Type == CredentialOnBehalfOf && c.Issuer == "" && callers != nil && len(callers.Issuers) == 1 {
		c.Issuer = callers.Issuers[0].Issuer.String()
	}
	if !c.Type.IsOAuth() || c.ClientAuth != "" {
		return
	}
	c.ClientAuth = ClientSecretBasic
	if (c.Type == CredentialJWTAssertion || c.Type == CredentialAuthorizationCode) && c.ClientSecret.IsZero() {
		c.ClientAuth = ClientAuthNone
	}
}

// hint recognizes the keys of a credential below credentials, where names of security schemes are expected.
func (*Credential) hint(_ *yaml.Node, name string) string {
	if name == "type" || slices.Contains(credentialKeys(), name) {
		return text.DidYouMean("credential") + " The keys of credentials are names of security schemes"
	}
	return ""
}
