package gateway

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/openapi"
)

// credentialOrigin is the only origin that gets the API's credential: that of base_url, else that of the document's
// URL. A document never decides it (E4); for one from a file the configuration must have base_url.
func (s *source) credentialOrigin() *url.URL {
	if s.config.BaseURL != nil {
		return s.config.BaseURL.URL()
	}
	u, err := url.Parse(s.config.Spec.String())
	if err != nil {
		return &url.URL{}
	}
	return u
}

// wrapDocument makes the credential of the fetch of the document at u: spec_credential, for the origin of u alone, else
// the API's if u is of the origin that gets it (E4).
func (s *source) wrapDocument(u *url.URL, own func(http.RoundTripper) http.RoundTripper) (func(http.RoundTripper) http.RoundTripper, error) {
	switch c := s.config; {
	case c.SpecCredential != nil:
		return wrap(c.SpecCredential, u)
	case c.BaseURL != nil && c.BaseURL.Origin() != originOf(u):
		return nil, nil // the document comes from elsewhere
	}
	return own, nil
}

// wrap makes the credential for an origin; nil without a credential.
func wrap(c *config.Credential, origin *url.URL) (func(http.RoundTripper) http.RoundTripper, error) {
	if c == nil {
		return nil, nil
	}
	o := credential.Options{Origin: origin, Name: c.Name}
	switch c.Type {
	case config.CredentialBearer:
		o.Kind, o.Token = credential.Bearer, credential.Fixed(c.Token.Reveal())
	case config.CredentialBasic:
		o.Kind, o.Username, o.Password = credential.Basic, credential.Fixed(c.Username), credential.Fixed(c.Password.Reveal())
	case config.CredentialAPIKey:
		o.Kind, o.Key = credential.APIKey, credential.Fixed(c.Value.Reveal())
		switch c.In {
		case config.KeyInHeader:
			o.In = credential.Header
		case config.KeyInQuery:
			o.In = credential.Query
		case config.KeyInCookie:
			o.In = credential.Cookie
		}
	}
	return credential.New(o)
}

// redactor takes the secrets of credentials out of a text, in the forms in which a request carries them; longest is the
// length of the longest of these. Nil: there are none.
func redactor(credentials ...*config.Credential) (r *strings.Replacer, longest int) {
	var pairs []string
	for _, c := range credentials {
		if c == nil {
			continue
		}
		for _, secret := range []string{c.Token.Reveal(), c.Password.Reveal(), c.Value.Reveal()} {
			if secret == "" {
				continue
			}
			basic := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + secret))
			for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), basic} {
				pairs, longest = append(pairs, form, redacted), max(longest, len(form))
			}
		}
	}
	if pairs == nil {
		return nil, 0
	}
	return strings.NewReplacer(pairs...), longest
}

// hideSecrets takes the API's secrets out of an error of reading its document, which goes where hideQuery says.
func (s *source) hideSecrets(err error) error {
	if err == nil || s.redact == nil {
		return err
	}
	text := s.redact.Replace(err.Error())
	if text == err.Error() {
		return err
	}
	return &hiddenError{text: text, err: err}
}

// reserved names what the credential sends, so that no argument can (R5, R7).
func reserved(c *config.Credential) []openapi.Reserved {
	if c == nil || c.Type != config.CredentialAPIKey {
		return nil
	}
	return []openapi.Reserved{{In: string(c.In), Name: c.Name}}
}

// display is a document's location without what may be secret in it.
func display(location string) string {
	if before, _, found := strings.Cut(location, "?"); found {
		return before + "?…"
	}
	return location
}

// hideQuery takes the query of a document's URL out of an error: it may hold a key, and the error goes to the log and to
// the pages of the admin listener.
func hideQuery(err error, location string) error {
	_, query, _ := strings.Cut(location, "?")
	query, _, _ = strings.Cut(query, "#")
	if err == nil || query == "" || !strings.Contains(err.Error(), query) {
		return err
	}
	return &hiddenError{text: strings.ReplaceAll(err.Error(), query, "…"), err: err}
}

// hiddenError is an error that shows another text.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }
