package config

import (
	"errors"
	"slices"
	"strings"
)

func (l *loader) credential(key string, c *Credential) {
	if !l.ok(key, key+".type") {
		return
	}
	needs := map[CredentialType][]string{
		CredentialBearer: {"token"},
		CredentialBasic:  {"username", "password"},
		CredentialAPIKey: {"in", "name", "value"},
	}
	for _, name := range []string{"token", "username", "password", "in", "name", "value"} {
		k, wanted := key+"."+name, slices.Contains(needs[c.Type], name)
		switch {
		case wanted && !l.given(k):
			l.errorf(k, "is required for type %s", c.Type)
		case !wanted && l.given(k):
			l.errorf(k, "can't stand with type %s, which takes %s", c.Type, strings.Join(needs[c.Type], ", "))
		}
	}
	check := func(name string, err error) {
		if err != nil && l.ok(key+"."+name) && l.given(key+"."+name) {
			l.errorf(key+"."+name, "%s", err)
		}
	}
	check("token", checkToken(c.Token.Reveal()))
	if strings.Contains(c.Username, ":") {
		check("username", errors.New("can't hold a colon"))
	}
	check("password", checkText(c.Password.Reveal()))
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

// credentialOrigin wants to know from the operator who gets the credential: a document must not decide it (E4).
func (l *loader) credentialOrigin(key string, api *API) {
	if api.BaseURL != nil || l.given(key+".base_url") || !l.ok(key+".spec") {
		return
	}
	switch {
	case !api.Spec.IsURL():
		l.errorf(key+".credential", "needs base_url beside it: the credential is sent to that origin alone, and a document from a file must not choose it")
	case len(api.AllowServers) > 0:
		l.errorf(key+".credential", "needs base_url beside it: the credential is sent to one origin alone, and allow_servers names others than the document's")
	}
}

// checkToken refuses what can't be a bearer token in an Authorization header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("holds a space, a line break or another character that can't stand in a token")
	}
	return nil
}

// checkText refuses what can't stand in a header's value.
func checkText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("holds a line break or another control character")
	}
	return nil
}

// checkHeader refuses header names that are not an API key's to set.
func checkHeader(name string) error {
	switch {
	case !headerToken(name):
		return errors.New("is not a header name")
	case slices.Contains([]string{
		"host", "content-length", "content-type", "content-encoding", "accept", "accept-encoding", "transfer-encoding",
		"te", "trailer", "upgrade", "connection", "keep-alive", "expect", "cookie", "proxy-connection",
	}, strings.ToLower(name)):
		return errors.New("the gateway sets this header itself")
	}
	return nil
}

// headerToken reports whether s is a token (RFC 9110, 5.6.2).
func headerToken(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
