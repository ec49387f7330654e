package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// credentials checks all that the gateway sends to prove itself, or its caller, to the service of an API.
func (l *loader) credentials(cfg *Config, key string, api *API) {
	if l.given(key+".credentials") && len(api.Credentials) == 0 && l.ok(key+".credentials") {
		l.errorf(key+".credentials", "is empty; leave it out, or name a security scheme")
	}
	l.serverCredentials(key, api)
	keys, all := api.AllCredentials()
	for i, c := range all {
		at := key + "." + keys[i]
		l.credential(at, c)
		if c.Type == CredentialTokenExchange && l.ok(at+".type") {
			switch {
			case c == api.SpecCredential:
				l.errorf(at+".type", "can't be token_exchange: no caller has a part in the fetch of the document")
			default:
				l.needCallers(cfg, at+".type", "token_exchange needs auth.issuers: without tokens of callers there is nothing to exchange")
			}
		}
	}
	if api.SpecCredential != nil && !api.Spec.IsURL() && l.ok(key+".spec") {
		l.errorf(key+".spec_credential", "has no use: the document is a file")
	}
	l.passHeaders(key, api)
	l.request(cfg, key+".request", api)
	l.apiIdentity(cfg, key, api)
	if c := api.ClientCertificate; c != nil {
		at := key + ".client_certificate"
		l.authority(at+".cert_file", c.CertFile)
		l.keyFile(at+".key_file", c.KeyFile)
	}
	l.serviceTLS(key+".tls", api)
	for _, name := range []string{"credential", "credentials", "pass_headers", "identity", "client_certificate"} {
		if l.given(key + "." + name) {
			l.credentialOrigin(key, name, api)
		}
	}
}

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
		CredentialJWTAssertion:      {"token_url", "key_file"},
	}
	credentialTakes = map[CredentialType][]string{
		CredentialAWSSigV4:          {"session_token"},
		CredentialClientCredentials: {},
		CredentialTokenExchange:     {"subject_token_type", "requested_token_type", "accept_audiences"},
		CredentialJWTAssertion:      {"key_id", "key_algorithm", "assertion"},
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

func (l *loader) credential(key string, c *Credential) {
	if !l.ok(key, key+".type") {
		return
	}
	if c.Type.IsOAuth() {
		l.oauth(key, c)
		return
	}
	needs, takes := credentialNeeds[c.Type], slices.Concat(credentialNeeds[c.Type], credentialTakes[c.Type])
	for _, f := range credentialKeys() {
		switch k := key + "." + f; {
		case slices.Contains(needs, f) && !l.given(k):
			l.errorf(k, "is required for type %s", c.Type)
		case !slices.Contains(takes, f) && l.given(k):
			l.errorf(k, "can't stand with type %s, which takes %s", c.Type, strings.Join(takes, ", "))
		}
	}
	check := l.checker(key)
	check("token", checkToken(c.Token.Reveal()))
	if strings.Contains(c.Username, ":") {
		check("username", errors.New("can't hold a colon"))
	}
	check("password", checkText(c.Password.Reveal()))
	check("secret_access_key", checkToken(c.SecretAccessKey.Reveal()))
	check("session_token", checkToken(c.SessionToken.Reveal()))
	if strings.ContainsFunc(c.AccessKeyID, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/,=", r) }) {
		check("access_key_id", errors.New("holds a character that can't stand in a signature"))
	}
	for _, name := range []string{"region", "service"} {
		if v := map[string]string{"region": c.Region, "service": c.Service}[name]; strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			check(name, fmt.Errorf("must be lower-case letters, digits and -, such as %s", map[string]string{"region": "eu-west-1", "service": "execute-api"}[name]))
		}
	}
	switch c.In {
	case KeyInQuery: // is escaped, whatever it holds
	case KeyInHeader:
		check("name", checkHeader(c.Name))
		check("value", checkText(c.Value.Reveal()))
	case KeyInCookie:
		if !headerToken(c.Name) {
			check("name", errors.New("is not a cookie name"))
		}
		if strings.ContainsFunc(c.Value.Reveal(), func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`",;\`, r)
		}) {
			check("value", errors.New("holds a character that can't stand in a cookie"))
		}
	}
}

// oauth checks a credential that is a token of an authorization server.
func (l *loader) oauth(key string, c *Credential) {
	if !l.ok(key + ".client_auth") {
		return
	}
	if c.ClientAuth == ClientAuthNone && c.Type != CredentialJWTAssertion {
		l.errorf(key+".client_auth", "can't be none for type %s: only the assertion of jwt_assertion itself says who asks", c.Type)
		return
	}
	byType, byAuth := credentialNeeds[c.Type], clientNeeds[c.ClientAuth]
	for _, f := range credentialKeys() {
		k := key + "." + f
		switch {
		case slices.Contains(byType, f) && !l.given(k):
			l.errorf(k, "is required for type %s", c.Type)
		case slices.Contains(byAuth, f) && !l.given(k):
			l.errorf(k, "is required for client_auth %s", c.ClientAuth)
		case !l.given(k) || slices.Contains(slices.Concat(byType, byAuth, credentialTakes[c.Type], clientTakes[c.ClientAuth], oauthTakes), f):
		case !takenBy(f, func(t CredentialType, _ ClientAuth) bool { return t == c.Type }):
			l.errorf(k, "can't stand with type %s", c.Type)
		default:
			l.errorf(k, "can't stand with client_auth %s", c.ClientAuth)
		}
	}
	check := l.checker(key)
	if c.TokenURL != "" && !c.TokenURL.secure() {
		check("token_url", errors.New("must be https: secrets travel to it"))
	}
	check("client_id", checkText(c.ClientID))
	check("client_secret", checkText(c.ClientSecret.Reveal()))
	l.scopes(key+".scopes", c.Scopes)
	for i, r := range c.Resources {
		if u, err := url.Parse(r); err != nil || !u.IsAbs() || strings.Contains(r, "#") {
			check(fmt.Sprintf("resources[%d]", i), errors.New("must be an absolute URI without a fragment (RFC 8707)"))
		}
	}
	if c.Type == CredentialTokenExchange && len(c.Resources)+len(c.Audiences) == 0 && l.ok(key+".resources", key+".audiences") {
		l.errorf(key, "needs audiences or resources for type token_exchange: without them the new token may be good for all that the caller's is good for")
	}
	for name := range c.Parameters {
		if slices.Contains(protocolParameters, name) {
			check("parameters."+name, errors.New("has a key of its own, or is set by the gateway"))
		}
	}
	l.assertion(key, c)
	l.authority(key+".ca_file", c.CAFile)
	l.authority(key+".cert_file", c.CertFile)
	l.keyFile(key+".key_file", c.KeyFile)
}

// protocolParameters are the parameters of token requests that have a meaning in the standards (RFC 6749, 7521, 8693, 8707).
var protocolParameters = []string{
	"grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "resource", "audience",
	"assertion", "subject_token", "subject_token_type", "requested_token_type", "actor_token", "actor_token_type",
	"code", "code_verifier", "redirect_uri", "refresh_token", "username", "password",
}

func (l *loader) assertion(key string, c *Credential) {
	at := key + ".assertion"
	a := c.Assertion
	if a == nil {
		a = &Assertion{}
	}
	if c.Type != CredentialJWTAssertion {
		for _, f := range []string{"issuer", "subject", "lifetime", "claims"} {
			if k := at + "." + f; l.given(k) {
				l.errorf(k, "can't stand with type %s: the client's own assertion says nothing but the audience that can be chosen", c.Type)
			}
		}
		return
	}
	if a.Issuer == "" && c.ClientID == "" && l.ok(at, at+".issuer", key+".client_id") {
		l.errorf(at+".issuer", "is required, unless there is client_id, which then stands for it")
	}
	for name := range a.Claims {
		if slices.Contains([]string{"", "iss", "sub", "aud", "iat", "exp", "nbf", "jti"}, name) {
			l.checker(at)("claims."+name, errors.New("is set by the gateway"))
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

// apiIdentity checks how a service is told of callers.
func (l *loader) apiIdentity(cfg *Config, key string, api *API) {
	if api.Identity == nil {
		return
	}
	id := key + ".identity"
	if cfg.Identity == nil && l.ok("identity") {
		l.errorf(id, "needs identity.key_files at the root of the file: the keys that sign it")
	}
	l.needCallers(cfg, id, "needs auth.issuers: without tokens of callers there is nobody to tell of")
	if api.Identity.Audience == "" && api.Name == "" && l.ok(id+".audience", key+".name") {
		l.errorf(id+".audience", "is required, unless the API has a name, which then stands for it: the document must not choose it")
	}
	if name := api.Identity.Header; name != "" && !headerToken(name) && l.ok(id+".header") {
		l.errorf(id+".header", "is not a header name")
	} else if keys, all := api.AllCredentials(); l.ok(id + ".header") {
		for i, c := range all {
			if c != api.SpecCredential && c.Type == CredentialAPIKey && c.In == KeyInHeader && sameHeader(c.Name, api.Identity.HeaderName()) {
				l.errorf(id+".header", "%s is the header of %s", quote(api.Identity.HeaderName()), keys[i])
			}
		}
	}
}

// credentialOrigin wants to know from the operator who gets what is sent: a document must not decide it (E4).
func (l *loader) credentialOrigin(key, name string, api *API) {
	if !l.ok(key+".spec", key+".base_url") {
		return
	}
	at := key + "." + name
	home := api.BaseURL
	if home == nil && api.Spec.IsURL() {
		u, err := url.Parse(api.Spec.String())
		if err != nil {
			return
		}
		home = &URL{raw: api.Spec.String(), parsed: u}
	}
	what := "the credential"
	switch name {
	case "credentials":
		what = "each credential"
	case "pass_headers":
		what = "what callers send"
	case "identity":
		what = "the identity of callers"
	case "client_certificate":
		what = "the certificate"
	}
	switch {
	case api.BaseURL == nil && !api.Spec.IsURL():
		l.errorf(at, "needs base_url beside it: %s is sent to that origin alone, and a document from a file must not choose it", what)
	case api.BaseURL == nil && len(api.AllowServers) > 0:
		l.errorf(at, "needs base_url beside it: %s is sent to one origin alone, and allow_servers names others than the document's", what)
	case name == "client_certificate" && home != nil && home.parsed.Scheme != "https":
		l.errorf(at, "needs https: %s is not", home.Origin())
	}
}
