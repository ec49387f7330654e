package gateway

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	pairs, longest := secretForms(credentials)
	if pairs == nil {
		return nil, 0
	}
	return strings.NewReplacer(pairs...), longest
}

// secretForms returns the forms of secrets, each with what takes its place behind it, and the length of the longest.
func secretForms(credentials []*config.Credential) (pairs []string, longest int) {
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
	return pairs, longest
}

// concealer takes out of what operators see of a document what must not be there: the API's secrets, and the query of the
// document's URL, which may hold a key. The URL stands in front of every place in the document, and the page or the server
// behind it may repeat what it was asked. What is shorter than shortestEcho is let alone: it may be any word of the
// document. Nil: there is nothing to hide.
func concealer(location string, credentials ...*config.Credential) *strings.Replacer {
	var pairs []string
	hide := func(text, by string) {
		pairs = append(pairs, text, by)
		if quoted := strconv.Quote(text); quoted[1:len(quoted)-1] != text {
			pairs = append(pairs, quoted[1:len(quoted)-1], by)
		}
	}
	forms, _ := secretForms(credentials)
	for pair := range slices.Chunk(forms, 2) {
		if len(pair[0]) >= shortestEcho {
			hide(pair[0], pair[1])
		}
	}
	_, query, _ := strings.Cut(location, "?")
	if query, _, _ = strings.Cut(query, "#"); query != "" {
		hide("?"+query, "?…")
		if len(query) >= shortestEcho {
			hide(query, "…")
		}
		values, _ := url.ParseQuery(query) // what can't be read was hidden as a whole
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, value := range values[name] {
				for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value)} {
					if len(value) >= shortestEcho {
						hide(form, "…")
					}
				}
			}
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// conceal returns a text without what r takes out of it; r may be nil.
func conceal(r *strings.Replacer, text string) string {
	if r == nil || text == "" {
		return text
	}
	return r.Replace(text)
}

// concealed returns an error of reading the document, which goes to the log and to the admin listener, as it may be seen.
func (s *source) concealed(err error) error {
	if err == nil {
		return nil
	}
	if text := conceal(s.redact, conceal(s.conceal, err.Error())); text != err.Error() {
		return &hiddenError{text: text, err: err}
	}
	return err
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

// hiddenError is an error that shows another text.
type hiddenError struct {
	text string
	err  error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.err }
