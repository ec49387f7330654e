package config

import (
	"net/url"
	"slices"
	"strings"
)

// validateSent checks what the gateway sends to prove itself, or its caller, to a service: as far as one value depends on another.
func (a *API) validateSent(c cursor) {
	keys, all := a.AllCredentials()
	for i, credential := range all {
		at := join(keys[i], "type")
		if credential.Login != nil {
			credential.Login.validateRecipient(c.at(join(keys[i], "login")), a.recipient(keys[i]))
		}
		switch {
		case credential.Type == CredentialAuthorizationCode && c.ok(at):
			a.validateAccount(c, keys[i])
		case !credential.Type.NeedsCaller() || !c.ok(at):
		case credential == a.SpecCredential:
			c.errorf(at, "can't be %s: no caller has a part in the fetch of the document", credential.Type)
		case c.anonymous():
			c.errorf(at, "%s needs auth.issuers: without tokens of callers there is nothing to exchange", credential.Type)
		case credential.Type == CredentialOnBehalfOf:
			credential.validateIssuer(c.at(keys[i]))
		}
	}
	a.validatePassedHeaders(c)
	a.validateRequest(c.at("request"))
	if a.Identity != nil {
		a.validateIdentity(c.at("identity"))
	}
}

// recipient returns the URL whose origin gets the credential at a key of the API.
func (a *API) recipient(key string) string {
	if name, ok := strings.CutPrefix(key, "server_credentials."); ok {
		return name
	}
	if a.BaseURL != nil && key != "spec_credential" {
		return a.BaseURL.String()
	}
	return a.Spec.String()
}

// validateIssuer checks that the issuer of callers' tokens is known, to whose token endpoint they go.
func (cr *Credential) validateIssuer(c cursor) {
	cfg := c.config()
	if cfg == nil || cfg.Auth == nil || !c.loader.ok("auth") {
		return
	}
	switch {
	case cr.Issuer == "":
		c.errorf("issuer", "is required, because auth.issuers has several: callers' tokens of one of them go to token_url")
	case !slices.ContainsFunc(cfg.Auth.Issuers, func(is Issuer) bool { return is.Issuer.String() == cr.Issuer }):
		c.errorf("issuer", "%s is none of auth.issuers", quote(cr.Issuer))
	}
}

// validateIdentity checks the caller identity that a service receives.
func (a *API) validateIdentity(c cursor) {
	if c.config().Identity == nil && c.loader.ok("identity") {
		c.errorf("", "needs identity.key_files at the root of the file: the keys that sign it")
	}
	if a.Identity.Audience == "" && a.Name == "" && c.ok("audience") && c.up.ok("name") {
		c.errorf("audience", "is required, unless the API has a name, which then stands for it: the document must not choose it")
	}
	if !c.ok("header") {
		return
	}
	header := a.Identity.HeaderName()
	if !headerToken(header) {
		c.errorf("header", "is not a header name")
		return
	}
	keys, all := a.AllCredentials()
	for i, credential := range all {
		if in, name := credential.Location(); credential != a.SpecCredential && in == KeyInHeader && sameHeader(name, header) {
			c.errorf("header", "%s is the header of %s", quote(header), keys[i])
		}
	}
}

// validateRecipient checks that the operator names the recipient of credentials: a document must not decide it (E4).
func (a *API) validateRecipient(c cursor) {
	if !c.ok("spec", "base_url") {
		return
	}
	home := a.BaseURL
	if home == nil && a.Spec.IsURL() {
		u, err := url.Parse(a.Spec.String())
		if err != nil {
			return
		}
		home = &URL{raw: a.Spec.String(), parsed: u}
	}
	for _, sent := range []struct{ key, what string }{
		{"credential", "the credential"}, {"credentials", "each credential"}, {"pass_headers", "what callers send"},
		{"identity", "the identity of callers"}, {"client_certificate", "the certificate"},
	} {
		switch {
		case !c.given(sent.key):
		case a.BaseURL == nil && !a.Spec.IsURL():
			c.errorf(sent.key, "needs base_url beside it: %s is sent to that origin alone, and a document from a file must not choose it", sent.what)
		case a.BaseURL == nil && len(a.AllowServers) > 0:
			c.errorf(sent.key, "needs base_url beside it: %s is sent to one origin alone, and allow_servers names others than the document's", sent.what)
		case sent.key == "client_certificate" && home != nil && home.parsed.Scheme != "https":
			c.errorf(sent.key, "needs https: %s is not", home.Origin())
		}
	}
}

// validatePassedHeaders checks the headers of the caller that go on to the service.
func (a *API) validatePassedHeaders(c cursor) {
	for i, h := range a.PassHeaders {
		at := c.item("pass_headers", i)
		from, to := at, at
		if h.credential {
			from, to = at+".from", at+".to"
		}
		if !c.ok(at, from, to) {
			continue
		}
		if h.credential {
			h.validateCredential(c, from, to)
		}
		if c.config().Auth.HasKeys() && sameHeader("X-API-Key", h.From) && c.ok(from) {
			c.errorf(from, "can't be X-API-Key with auth.keys: callers prove themselves to the gateway with it")
		}
		switch sent := a.sentIn(h.To); {
		case !c.ok(to):
		case !headerToken(h.To):
			c.errorf(to, "%s is not a header name", quote(h.To))
		case slices.ContainsFunc(a.PassHeaders[:i], func(other PassedHeader) bool { return sameHeader(other.To, h.To) }):
			c.errorf(to, "%s is listed twice", quote(h.To))
		case sent != "":
			c.errorf(to, "%s is the header of %s", quote(h.To), sent)
		}
	}
}

// validateCredential checks the names of a header that has the caller's own credential. The code that passes headers on rejects others
// that can't be passed.
func (h PassedHeader) validateCredential(c cursor, from, to string) {
	if !headerToken(h.From) {
		c.errorf(from, "%s is not a header name", quote(h.From))
	}
	for _, name := range []string{"Authorization", "DPoP", "Cookie"} {
		if sameHeader(name, h.From) && c.ok(from) {
			c.errorf(from, "can't be %s: callers prove themselves to the gateway with it", name)
		}
	}
	if sameHeader("Cookie", h.To) {
		c.errorf(to, "can't be Cookie: the credential must have a header of its own")
	}
}

func (id *Identity) validate(c cursor) {
	if c.config().publicURL() == "" && c.loader.ok("server", "server.public_url", "server.public_urls", "server.listen") {
		c.errorf("", "needs server.public_url: it says who signs, and %q does not tell it", c.config().Server.Listen)
	}
}
