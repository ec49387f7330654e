package redact

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
)

// Configured finds the secrets that the configuration holds for one API. It is immutable; a nil Configured finds
// nothing.
type Configured struct {
	all      *strings.Replacer // all secrets, however short; nil if there are none
	longest  int               // length of the longest form that all replaces, in bytes
	operator *strings.Replacer // see newOperatorReplacer
	forms    *Forms            // the secrets that are long enough to search for in responses; nil if there are none

	locations   []string
	credentials []*config.Credential
}

// NewConfigured returns a finder of the secrets of an API. Locations are those of its document and overlays; nil
// elements of credentials are skipped.
func NewConfigured(locations []string, credentials ...*config.Credential) *Configured {
	c := &Configured{locations: locations, credentials: credentials, operator: newOperatorReplacer(locations, credentials), forms: newForms(credentials)}
	var pairs []string
	if pairs, c.longest = secretForms(credentials); pairs != nil {
		c.all = strings.NewReplacer(pairs...)
	}
	return c
}

// With returns a copy that finds further secrets, too.
func (c *Configured) With(secrets ...config.Secret) *Configured {
	if len(secrets) == 0 {
		return c
	}
	var locations []string
	var all []*config.Credential
	if c != nil {
		locations, all = c.locations, slices.Clone(c.credentials)
	}
	for _, secret := range secrets {
		all = append(all, &config.Credential{Type: config.CredentialBearer, Token: secret})
	}
	return NewConfigured(locations, all...)
}

// And returns a finder of the secrets of both.
func (c *Configured) And(other *Configured) *Configured {
	switch {
	case c == nil || c == other:
		return other
	case other == nil:
		return c
	}
	return NewConfigured(slices.Concat(c.locations, other.locations), slices.Concat(c.credentials, other.credentials)...)
}

// All removes the secrets, however short, from a text, in each form in which a request carries them or a service may
// write them.
func (c *Configured) All(text string) string {
	if c == nil || c.all == nil {
		return text
	}
	return c.all.Replace(text)
}

// Operator returns a text of the document, or about it, as operators may see it: without the API's secrets, and without the query
// of the document's URL, which may hold a key.
func (c *Configured) Operator(text string) string {
	if c == nil || c.operator == nil || text == "" {
		return text
	}
	return c.operator.Replace(text)
}

// OperatorError returns an error of loading the document as operators may see it. Such errors reach the log and the
// admin listener.
func (c *Configured) OperatorError(err error) error {
	if err == nil {
		return nil
	}
	if text := c.All(c.Operator(err.Error())); text != err.Error() {
		return &redactedError{text: text, err: err}
	}
	return err
}

// redactedError is an error whose text is redacted.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// newOperatorReplacer returns a replacer for the parts of a document that operators must not see: the API's secrets,
// and the queries of its URLs. The URL precedes every position in the document, and the page or the server behind it
// may repeat the request. A text shorter than shortestSecret stays, since it may be any word of the document. The
// replacer is nil if there is nothing to replace.
func newOperatorReplacer(locations []string, credentials []*config.Credential) *strings.Replacer {
	var pairs []string
	hide := func(text, by string) {
		pairs = append(pairs, text, by)
		if quoted := strconv.Quote(text); quoted[1:len(quoted)-1] != text {
			pairs = append(pairs, quoted[1:len(quoted)-1], by)
		}
	}
	forms, _ := secretForms(credentials)
	for pair := range slices.Chunk(forms, 2) {
		if len(pair[0]) >= shortestSecret {
			hide(pair[0], pair[1])
		}
	}
	for _, location := range locations {
		_, query, _ := strings.Cut(location, "?")
		if query, _, _ = strings.Cut(query, "#"); query == "" {
			continue
		}
		hide("?"+query, "?…")
		if len(query) >= shortestSecret {
			hide(query, "…")
		}
		values, _ := url.ParseQuery(query) // a query that can't be parsed is hidden as a whole
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, value := range values[name] {
				for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value)} {
					if len(value) >= shortestSecret {
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

// Location returns a document's location without its query, which may hold a secret.
func Location(location string) string {
	if before, _, found := strings.Cut(location, "?"); found {
		return before + "?…"
	}
	return location
}
