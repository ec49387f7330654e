package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/openapi/origin"
)

// Kind is a kind of credential.
type Kind uint8

// Kinds of credentials.
const (
	// Bearer sends "Authorization: Bearer …" (RFC 6750 section 2.1).
	Bearer Kind = iota + 1
	// Basic sends "Authorization: Basic …" (RFC 7617).
	Basic
	// APIKey sends a key as a header, a query parameter or a cookie.
	APIKey
	// ClientCredentials sends, as Bearer, a token that an authorization server issues to the
	// gateway itself (RFC 6749 section 4.4).
	ClientCredentials
	// TokenExchange sends, as Bearer, a token that an authorization server issues in exchange for
	// the caller's (RFC 8693), so that the service knows the caller.
	TokenExchange
	// JWTAssertion is ClientCredentials with a JWT as the grant (RFC 7523 section 2.1).
	JWTAssertion
	// Account sends, as Bearer, the token of the account that the caller has at the service (RFC 6749
	// section 4.1).
	Account
	// AWSSigV4 signs each request with AWS Signature Version 4.
	AWSSigV4
	// MutualTLS adds nothing to requests: the connection has a [ClientCertificate].
	MutualTLS
)

// String returns the name of the kind in the configuration.
func (k Kind) String() string {
	switch k {
	case Bearer:
		return "bearer"
	case Basic:
		return "basic"
	case APIKey:
		return "api_key"
	case ClientCredentials:
		return "client_credentials"
	case TokenExchange:
		return "token_exchange"
	case JWTAssertion:
		return "jwt_assertion"
	case Account:
		return "authorization_code"
	case AWSSigV4:
		return "aws_sigv4"
	case MutualTLS:
		return "mutual_tls"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Location is the part of a request that holds an API key.
type Location uint8

// Locations of an API key.
const (
	// Header is a header field.
	Header Location = iota + 1
	// Query is a query parameter.
	Query
	// Cookie is a cookie.
	Cookie
)

// Secret returns the current value of a secret. It is called for each request, so it must be cheap
// and safe for concurrent use, and its error must not contain the secret. Trailing line ends are
// not part of the secret.
type Secret func() (string, error)

// Fixed returns a Secret that never changes.
func Fixed(s string) Secret { return func() (string, error) { return s, nil } }

// Options describe one credential.
type Options struct {
	// Kind determines which of the other fields are used.
	Kind Kind
	// Token is the token of Bearer.
	Token Secret
	// Username and Password are those of Basic.
	Username, Password Secret
	// Key is the key of APIKey.
	Key Secret
	// In and Name are the location and name of the key of APIKey.
	In   Location
	Name string
	// OAuth configures the tokens of ClientCredentials, TokenExchange and JWTAssertion.
	OAuth *OAuth
	// AWS are the credentials of AWSSigV4.
	AWS *AWS
	// Accounts are the accounts of Account.
	Accounts Accounts
	// Subject returns, for TokenExchange, the token of the caller whose request ctx belongs to, and
	// a key that is unique to the caller; false if there is no caller, and then nothing is sent. It
	// is called for each request. The token is sent to OAuth.TokenURL and not kept.
	Subject func(ctx context.Context) (token, key string, ok bool)
	// Now is the clock for tokens; time.Now if nil.
	Now func() time.Time
	// Origin is the URL whose scheme, host and port a request must have to get the credential. Its
	// path is ignored.
	Origin *url.URL
}

// New checks the options and reads the secrets once, so that a broken credential is found at
// configuration time (Z8). It returns all problems, and requests no token. The wrapper adds the
// credential to requests for Origin and passes others on unchanged. It fails, without sending
// anything, when a secret can't be read, and with a [*TokenError] when no token is available.
//
// Concurrent requests share one token request. A token is refreshed before it expires, by a tenth
// of its lifetime but at most a minute. A request that the service answers with 401 is retried once
// with another token, if its body can be sent again.
func New(o Options) (func(http.RoundTripper) http.RoundTripper, error) {
	to, err := parseOrigin(o.Origin)
	p, partErr := newCredential(o)
	if err := errors.Join(err, partErr); err != nil {
		return nil, err
	}
	b := &credentials{list: []*credential{p}}
	return func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, origin: to, credentials: b}
	}, nil
}

// credential is one credential: static, a grant, accounts, a sigV4, or none of them for mutual TLS.
type credential struct {
	static   *staticCredential
	grant    *grant
	accounts Accounts
	sigV4    *sigV4
}

// newCredential checks the options except for the origin.
func newCredential(o Options) (*credential, error) {
	switch o.Kind {
	case ClientCredentials, TokenExchange, JWTAssertion:
		g, err := newGrant(o)
		return &credential{grant: g}, err
	case Account:
		if o.Accounts == nil {
			return nil, errors.New("credential: the accounts are missing")
		}
		return &credential{accounts: o.Accounts}, nil
	case AWSSigV4:
		s, err := newSigV4(o)
		return &credential{sigV4: s}, err
	case MutualTLS:
		return &credential{}, nil
	case Bearer, Basic, APIKey: // newStaticCredential rejects all other kinds
	}
	a, err := newStaticCredential(o)
	if err == nil {
		_, err = a.render()
	}
	return &credential{static: a}, err
}

// location returns the part of a request that holds the credential; two credentials in one location
// conflict.
func (p *credential) location() string {
	switch {
	case p.grant != nil, p.accounts != nil, p.sigV4 != nil:
		return "header Authorization"
	case p.static == nil:
		return ""
	case p.static.location == Query:
		return "query parameter " + p.static.name
	case p.static.location == Cookie:
		return "cookie " + p.static.name
	}
	return "header " + p.static.name
}

func newStaticCredential(o Options) (*staticCredential, error) {
	a := &staticCredential{}
	var err error
	switch o.Kind {
	case Bearer:
		a.location, a.name = Header, "Authorization"
		a.secrets = []secret{{"token", o.Token}}
		a.format = func(v []string) (string, error) { return "Bearer " + v[0], checkToken("token", v[0]) }
	case Basic:
		a.location, a.name = Header, "Authorization"
		a.secrets = []secret{{"username", o.Username}, {"password", o.Password}}
		a.format = formatBasic
	case APIKey:
		a.location, a.name = o.In, o.Name
		a.secrets = []secret{{"key", o.Key}}
		a.format, err = keyFormat(o.In)
		err = errors.Join(err, checkName(o.In, o.Name))
	default:
		err = fmt.Errorf("credential: unknown kind %d", o.Kind)
	}
	if a.location == Header {
		a.name = http.CanonicalHeaderKey(a.name)
	}
	for _, s := range a.secrets {
		if s.read == nil {
			err = errors.Join(err, fmt.Errorf("credential: %s is missing", s.name))
		}
	}
	return a, err
}

// parseOrigin returns the origin that a credential is for, the host in ASCII.
func parseOrigin(u *url.URL) (origin.Origin, error) {
	o, ok := origin.Of(u)
	if !ok || u.Scheme != "http" && u.Scheme != "https" {
		return origin.Origin{}, errors.New("credential: origin must be an absolute http or https URL")
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' }) {
		// net/http connects to that form, and the address of a connection is compared with it.
		return origin.Origin{}, fmt.Errorf("credential: the host of origin %q must be in its ASCII form (xn--…)", u.Scheme+"://"+u.Host)
	}
	return o, nil
}

// goesTo reports whether a request goes to an origin, according to both its URL and its Host header.
func goesTo(req *http.Request, to origin.Origin) bool {
	if req.Host != "" && req.Host != req.URL.Host {
		return false
	}
	o, ok := origin.Of(req.URL)
	return ok && o == to
}
