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
	// OnBehalfOf is TokenExchange with the caller's token as a JWT assertion (RFC 7523 section 2.1
	// with "requested_token_use", the on-behalf-of flow of Entra ID).
	OnBehalfOf
	// JWTAssertion is ClientCredentials with a JWT as the grant (RFC 7523 section 2.1).
	JWTAssertion
	// Account sends, as Bearer, the token of the account that the caller has at the service (RFC 6749
	// section 4.1).
	Account
	// LoginRequest sends a token or cookie that the service itself gives for a user name and a password.
	LoginRequest
	// Digest proves knowledge of a password with a digest of each request (RFC 7616).
	Digest
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
	case OnBehalfOf:
		return "on_behalf_of"
	case JWTAssertion:
		return "jwt_assertion"
	case Account:
		return "authorization_code"
	case LoginRequest:
		return "login"
	case Digest:
		return "digest"
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
	// Username and Password are those of Basic, LoginRequest and Digest.
	Username, Password Secret
	// Key is the key of APIKey.
	Key Secret
	// In and Name are the location and name of the key of APIKey, or of the token of LoginRequest.
	In   Location
	Name string
	// OAuth configures the tokens of ClientCredentials, TokenExchange, OnBehalfOf and JWTAssertion.
	OAuth *OAuth
	// Login is the request of LoginRequest.
	Login *Login
	// AWS are the credentials of AWSSigV4.
	AWS *AWS
	// Accounts are the accounts of Account.
	Accounts Accounts
	// Subject returns, for TokenExchange and OnBehalfOf, the token of the caller whose request ctx
	// belongs to, and a key that is unique to the caller; false if there is no caller, and then
	// nothing is sent. It is called for each request. The token is sent to OAuth.TokenURL and not
	// kept.
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
// with another token, if its body can be sent again. The first request with Digest is sent without
// a credential, to get the challenge of the service.
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

// credential is one credential: static, tokens, accounts, a sigV4, a digest, or none of them for
// mutual TLS.
type credential struct {
	static   *staticCredential
	tokens   tokenIssuer
	accounts Accounts
	sigV4    *sigV4
	digest   *digest
}

// newCredential checks the options except for the origin.
func newCredential(o Options) (*credential, error) {
	switch o.Kind {
	case ClientCredentials, TokenExchange, OnBehalfOf, JWTAssertion:
		g, err := newGrant(o)
		return &credential{tokens: g}, err
	case Account:
		if o.Accounts == nil {
			return nil, errors.New("credential: the accounts are missing")
		}
		return &credential{accounts: o.Accounts}, nil
	case LoginRequest:
		l, err := newLogin(o)
		return &credential{tokens: l}, err
	case Digest:
		d, err := newDigest(o)
		return &credential{digest: d}, err
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
	at := field{Header, "Authorization"}
	switch {
	case p.tokens != nil:
		at = p.tokens.field()
	case p.static != nil:
		at = p.static.field
	case p.accounts == nil && p.sigV4 == nil && p.digest == nil:
		return ""
	}
	switch at.location {
	case Query:
		return "query parameter " + at.name
	case Cookie:
		return "cookie " + at.name
	case Header:
	}
	return "header " + at.name
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
