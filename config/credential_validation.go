package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The keys of a credential by its type: those that it must have, and those that it may have. Those that depend on how
// the gateway proves itself to an authorization server come beside them.
var (
	credentialNeeds = map[CredentialType][]string{
		CredentialBearer:            {"token"},
		CredentialBasic:             {"username", "password"},
		CredentialAPIKey:            {"in", "name", "value"},
		CredentialAWSSigV4:          {"access_key_id", "secret_access_key", "region", "service"},
		CredentialClientCredentials: {"token_url"},
		CredentialTokenExchange:     {"token_url"},
		CredentialOnBehalfOf:        {"token_url", "scopes"},
		CredentialJWTAssertion:      {"token_url", "key_file"},
		CredentialAuthorizationCode: {"authorize_url", "token_url", "client_id"},
		CredentialLogin:             {"username", "password", "login"},
		CredentialDigest:            {"username", "password"},
	}
	credentialTakes = map[CredentialType][]string{
		CredentialAWSSigV4:          {"session_token"},
		CredentialClientCredentials: {},
		CredentialTokenExchange:     {"subject_token_type", "requested_token_type", "accept_audiences"},
		CredentialOnBehalfOf:        {"issuer", "accept_audiences"},
		CredentialJWTAssertion:      {"key_id", "key_algorithm", "assertion"},
		CredentialAuthorizationCode: {"revoke_url"},
		CredentialLogin:             {"in", "name", "ca_file", "proxy"},
	}
	oauthTakes = []string{"client_auth", "ca_file", "proxy", "scopes", "resources", "audiences", "parameters"}

	clientNeeds = map[ClientAuth][]string{
		ClientSecretBasic: {"client_id", "client_secret"},
		ClientSecretPost:  {"client_id", "client_secret"},
		PrivateKeyJWT:     {"client_id", "key_file"},
		ClientTLS:         {"client_id", "cert_file", "key_file"},
		ClientAuthNone:    {},
	}
	clientTakes = map[ClientAuth][]string{
		PrivateKeyJWT:  {"key_id", "key_algorithm", "assertion"},
		ClientAuthNone: {"client_id"},
	}
)

func (cr *Credential) validate(c cursor) {
	if c.unread("type") {
		return
	}
	if cr.Type.IsOAuth() {
		cr.validateOAuth(c)
		return
	}
	needs, takes := credentialNeeds[cr.Type], slices.Concat(credentialNeeds[cr.Type], credentialTakes[cr.Type])
	for _, f := range credentialKeys() {
		switch {
		case slices.Contains(needs, f) && !c.given(f):
			c.errorf(f, "is required for type %s", cr.Type)
		case !slices.Contains(takes, f) && c.given(f):
			c.errorf(f, "can't stand with type %s, which takes %s", cr.Type, strings.Join(takes, ", "))
		}
	}
	c.check("token", checkToken(cr.Token.Reveal()))
	if strings.Contains(cr.Username, ":") && cr.Type != CredentialLogin {
		c.check("username", errors.New("can't hold a colon"))
	}
	c.check("password", checkText(cr.Password.Reveal()))
	if cr.Type == CredentialLogin && cr.Login != nil {
		cr.validateLogin(c)
	}
	c.check("secret_access_key", checkToken(cr.SecretAccessKey.Reveal()))
	c.check("session_token", checkToken(cr.SessionToken.Reveal()))
	if strings.ContainsFunc(cr.AccessKeyID, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/,=", r) }) {
		c.check("access_key_id", errors.New("holds a character that can't stand in a signature"))
	}
	c.check("region", checkAWSName(cr.Region, "eu-west-1"))
	c.check("service", checkAWSName(cr.Service, "execute-api"))
	switch in, _ := cr.Location(); in {
	case KeyInQuery: // is escaped, whatever it holds
	case KeyInHeader:
		c.check("name", checkHeader(cr.Name))
		c.check("value", checkText(cr.Value.Reveal()))
	case KeyInCookie:
		if !headerToken(cr.Name) {
			c.check("name", errors.New("is not a cookie name"))
		}
		if strings.ContainsFunc(cr.Value.Reveal(), func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`",;\`, r)
		}) {
			c.check("value", errors.New("holds a character that can't stand in a cookie"))
		}
	}
}

// validateLogin checks what a login leaves to the credential.
func (cr *Credential) validateLogin(c cursor) {
	in, name := cr.Location()
	switch {
	case name == "" && c.ok("in", "name", "login", "login.token_cookie"):
		c.errorf("name", "is required with in: %s", in)
	case in != KeyInHeader && c.given("login.scheme"):
		c.errorf("login.scheme", "can't stand beside in: %s, which has the token alone", in)
	}
	if cr.Login.IsPath() {
		for _, key := range []string{"ca_file", "proxy"} {
			c.check(key, errors.New("can't stand with a path as login.url: the request is sent like calls of the API"))
		}
	}
}

// checkAWSName refuses what is no name of a region or a service.
func checkAWSName(name, example string) error {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("must be lower-case letters, digits and -, such as %s", example)
	}
	return nil
}

// validateOAuth checks a credential that is a token of an authorization server.
func (cr *Credential) validateOAuth(c cursor) {
	if !c.ok("client_auth") {
		return
	}
	switch code := cr.Type == CredentialAuthorizationCode; {
	case cr.ClientAuth == ClientAuthNone && cr.Type != CredentialJWTAssertion && !code:
		c.errorf("client_auth", "can't be none for type %s: only the assertion of jwt_assertion itself says who asks", cr.Type)
		return
	case code && (cr.ClientAuth == PrivateKeyJWT || cr.ClientAuth == ClientTLS):
		c.errorf("client_auth", "can't be %s for type %s, which takes client_secret_basic, client_secret_post or none", cr.ClientAuth, cr.Type)
		return
	}
	cr.validateAuthorizationCode(c)
	byType, byAuth := credentialNeeds[cr.Type], clientNeeds[cr.ClientAuth]
	for _, f := range credentialKeys() {
		switch {
		case slices.Contains(byType, f) && !c.given(f):
			c.errorf(f, "is required for type %s", cr.Type)
		case slices.Contains(byAuth, f) && !c.given(f):
			c.errorf(f, "is required for client_auth %s", cr.ClientAuth)
		case cr.Type == CredentialOnBehalfOf && (f == "resources" || f == "audiences") && c.given(f):
			c.errorf(f, "can't stand with type on_behalf_of: its scopes name the service")
		case !c.given(f) || slices.Contains(slices.Concat(byType, byAuth, credentialTakes[cr.Type], clientTakes[cr.ClientAuth], oauthTakes), f):
		case !takenBy(f, func(t CredentialType, _ ClientAuth) bool { return t == cr.Type }):
			c.errorf(f, "can't stand with type %s", cr.Type)
		default:
			c.errorf(f, "can't stand with client_auth %s", cr.ClientAuth)
		}
	}
	c.check("client_id", checkText(cr.ClientID))
	c.check("client_secret", checkText(cr.ClientSecret.Reveal()))
	for i, r := range cr.Resources {
		if u, err := url.Parse(r); err != nil || !u.IsAbs() || strings.Contains(r, "#") {
			c.check(c.item("resources", i), errors.New("must be an absolute URI without a fragment (RFC 8707)"))
		}
	}
	if cr.Type == CredentialTokenExchange && len(cr.Resources)+len(cr.Audiences) == 0 && c.ok("resources", "audiences") {
		c.errorf("", "needs audiences or resources for type token_exchange: without them the new token may be good for all that the caller's is good for")
	}
	for name := range cr.Parameters {
		if slices.Contains(protocolParameters, name) && (cr.Type != CredentialAuthorizationCode || name != "resource" && name != "audience") {
			c.check("parameters."+name, errors.New("has a key of its own, or is set by the gateway"))
		}
	}
	cr.validateAssertion(c)
}

// protocolParameters are the parameters of token requests that have a meaning in the standards (RFC 6749, 7521, 8693, 8707).
var protocolParameters = []string{
	"grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "resource", "audience",
	"assertion", "subject_token", "subject_token_type", "requested_token_type", "actor_token", "actor_token_type",
	"code", "code_verifier", "redirect_uri", "refresh_token", "username", "password", "requested_token_use",
}

// validateAuthorizationCode checks a credential for which each caller logs in at the service.
func (cr *Credential) validateAuthorizationCode(c cursor) {
	if cr.Type != CredentialAuthorizationCode {
		return
	}
	for _, name := range []string{"resources", "audiences"} {
		if c.given(name) {
			c.errorf(name, "can't stand with type %s: parameters can have resource or audience of the service", cr.Type)
		}
	}
	for name := range cr.Parameters {
		if slices.Contains(ownParameters, name) {
			c.check("parameters."+name, errors.New("is set by the gateway itself"))
		}
	}
}

func (cr *Credential) validateAssertion(c cursor) {
	a := cr.Assertion
	if a == nil {
		a = &Assertion{}
	}
	if cr.Type != CredentialJWTAssertion {
		for _, f := range []string{"issuer", "subject", "lifetime", "claims"} {
			if at := "assertion." + f; c.given(at) {
				c.errorf(at, "can't stand with type %s: the client's own assertion says nothing but the audience that can be chosen", cr.Type)
			}
		}
		return
	}
	if a.Issuer == "" && cr.ClientID == "" && c.ok("assertion", "assertion.issuer", "client_id") {
		c.errorf("assertion.issuer", "is required, unless there is client_id, which then stands for it")
	}
	for name := range a.Claims {
		if slices.Contains([]string{"", "iss", "sub", "aud", "iat", "exp", "nbf", "jti"}, name) {
			c.check("assertion.claims."+name, errors.New("is set by the gateway"))
		}
	}
}

// takenBy reports whether a key of a credential of an authorization server is taken by some combination.
func takenBy(name string, chosen func(CredentialType, ClientAuth) bool) bool {
	if slices.Contains(oauthTakes, name) {
		return true
	}
	for t := range credentialTakes {
		for a := range clientNeeds {
			if chosen(t, a) && slices.Contains(slices.Concat(credentialNeeds[t], credentialTakes[t], clientNeeds[a], clientTakes[a]), name) {
				return true
			}
		}
	}
	return false
}
