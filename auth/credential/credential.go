package credential

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Kind is the way in which a credential authenticates.
type Kind uint8

// The kinds of credentials.
const (
	// Bearer sends "Authorization: Bearer …" (RFC 6750 section 2.1).
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
// so it must be cheap and safe for concurrent use, and its error must not hold
// the secret. Line ends after the secret are not part of it.
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
	// In and Name say where the key of APIKey stands.
	In   Place
	Name string
	// Origin is the URL whose scheme, host and port a request must have to get
	// the credential. The rest of it does not count.
	Origin *url.URL
}

// New checks the options and reads the secrets once, so that a credential that
// can't work is found when it is configured and not when it is used (Z8). It
// returns all problems. The wrapper attaches the credential to requests for
// Origin and passes others on as they are; it fails, without sending anything,
// when a secret can't be read.
func New(o Options) (func(http.RoundTripper) http.RoundTripper, error) {
	var problems []error
	if o.Origin == nil || o.Origin.Host == "" || o.Origin.Scheme != "http" && o.Origin.Scheme != "https" {
		problems = append(problems, errors.New("credential: origin must be an absolute http or https URL"))
	}
	a, err := newAttacher(o)
	if err != nil {
		problems = append(problems, err)
	} else if _, err := a.render(); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	origin := newOrigin(o.Origin)
	return func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, origin: origin, attacher: a}
	}, nil
}

func newAttacher(o Options) (*attacher, error) {
	a := &attacher{}
	var err error
	switch o.Kind {
	case Bearer:
		a.place, a.name = Header, "Authorization"
		a.secrets = []secret{{"token", o.Token}}
		a.format = func(v []string) (string, error) { return "Bearer " + v[0], checkToken("token", v[0]) }
	case Basic:
		a.place, a.name = Header, "Authorization"
		a.secrets = []secret{{"username", o.Username}, {"password", o.Password}}
		a.format = formatBasic
	case APIKey:
		a.place, a.name = o.In, o.Name
		a.secrets = []secret{{"key", o.Key}}
		a.format, err = keyFormat(o.In)
		err = errors.Join(err, checkName(o.In, o.Name))
	default:
		err = fmt.Errorf("credential: unknown kind %d", o.Kind)
	}
	if a.place == Header {
		a.name = http.CanonicalHeaderKey(a.name)
	}
	for _, s := range a.secrets {
		if s.read == nil {
			err = errors.Join(err, fmt.Errorf("credential: %s is missing", s.name))
		}
	}
	return a, err
}

// transport attaches a credential.
type transport struct {
	next     http.RoundTripper
	origin   origin
	attacher *attacher
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.origin.matches(req.URL) {
		return t.next.RoundTrip(req)
	}
	own, err := t.attacher.attach(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close() // as the interface demands
		}
		return nil, err
	}
	return t.next.RoundTrip(own)
}

// origin is scheme, host and port (RFC 6454).
type origin struct {
	scheme, host, port string
	literal            string // host and port as configured: the usual spelling
}

func newOrigin(u *url.URL) origin {
	o := originOf(u)
	o.literal = u.Host
	return o
}

func originOf(u *url.URL) origin {
	o := origin{scheme: strings.ToLower(u.Scheme), host: strings.ToLower(u.Hostname()), port: u.Port()}
	if o.port == "" {
		switch o.scheme {
		case "http":
			o.port = "80"
		case "https":
			o.port = "443"
		}
	}
	return o
}

func (o origin) matches(u *url.URL) bool {
	if u.Scheme == o.scheme && u.Host == o.literal {
		return true
	}
	other := originOf(u)
	return other.scheme == o.scheme && other.host == o.host && other.port == o.port
}
