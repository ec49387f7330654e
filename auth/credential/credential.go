package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/gateway/origin"
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
	// ClientCredentials sends, as Bearer, a token that an authorization server
	// gives to the gateway itself (RFC 6749 section 4.4).
	ClientCredentials
	// TokenExchange sends, as Bearer, a token that an authorization server gives
	// for that of the caller (RFC 8693): the service knows who calls it.
	TokenExchange
	// JWTAssertion is as ClientCredentials, with a JWT as the grant (RFC 7523 section 2.1).
	JWTAssertion
	// AWSSigV4 signs each request with AWS Signature Version 4.
	AWSSigV4
	// MutualTLS sends nothing: the connection has a [ClientCertificate].
	MutualTLS
)

// String returns the name that the kind has in the configuration.
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
	case AWSSigV4:
		return "aws_sigv4"
	case MutualTLS:
		return "mutual_tls"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

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
	// OAuth says where the tokens of ClientCredentials, TokenExchange and
	// JWTAssertion come from.
	OAuth *OAuth
	// AWS are the credentials of AWSSigV4.
	AWS *AWS
	// Subject returns the token of the caller whose request ctx belongs to, for
	// TokenExchange, and a key that no other caller has; false if there is no
	// caller, and then nothing is sent. It is called for each request. The token
	// goes to OAuth.TokenURL and is not kept.
	Subject func(ctx context.Context) (token, key string, ok bool)
	// Now is the clock of tokens. Nil: time.Now.
	Now func() time.Time
	// Origin is the URL whose scheme, host and port a request must have to get
	// the credential. The rest of it does not count.
	Origin *url.URL
}

// New checks the options and reads the secrets once, so that a credential that
// can't work is found when it is configured and not when it is used (Z8). It
// returns all problems, and asks for no token. The wrapper attaches the
// credential to requests for Origin and passes others on as they are; it fails,
// without sending anything, when a secret can't be read, and with a
// [*TokenError] when there is no token.
//
// A token is asked for by one request at a time, however many wait for it, and
// anew before it expires, by a tenth of its life but at most a minute. A request
// that the service answers with 401 is repeated once with another token, if its
// body can be sent again.
func New(o Options) (func(http.RoundTripper) http.RoundTripper, error) {
	to, err := parseOrigin(o.Origin)
	p, partErr := newPart(o)
	if err := errors.Join(err, partErr); err != nil {
		return nil, err
	}
	b := &bundle{parts: []*part{p}}
	return func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, origin: to, bundle: b}
	}, nil
}

// part is one credential. It has an attacher, a grant, a sigV4, or none.
type part struct {
	attacher *attacher
	grant    *grant
	sigV4    *sigV4
}

// newPart checks what is not about the origin.
func newPart(o Options) (*part, error) {
	switch o.Kind {
	case ClientCredentials, TokenExchange, JWTAssertion:
		g, err := newGrant(o)
		return &part{grant: g}, err
	case AWSSigV4:
		s, err := newSigV4(o)
		return &part{sigV4: s}, err
	case MutualTLS:
		return &part{}, nil
	case Bearer, Basic, APIKey: // newAttacher refuses what is none of them
	}
	a, err := newAttacher(o)
	if err == nil {
		_, err = a.render()
	}
	return &part{attacher: a}, err
}

// place is where the credential stands in a request; two in one place exclude each other.
func (p *part) place() string {
	switch {
	case p.grant != nil, p.sigV4 != nil:
		return "header Authorization"
	case p.attacher == nil:
		return ""
	case p.attacher.place == Query:
		return "query parameter " + p.attacher.name
	case p.attacher.place == Cookie:
		return "cookie " + p.attacher.name
	}
	return "header " + p.attacher.name
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

// parseOrigin returns the origin that a credential is for, the host in ASCII.
func parseOrigin(u *url.URL) (origin.Origin, error) {
	o, ok := origin.Of(u)
	if !ok || u.Scheme != "http" && u.Scheme != "https" {
		return origin.Origin{}, errors.New("credential: origin must be an absolute http or https URL")
	}
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > '~' }) {
		// That is what net/http connects to, and what a connection's address is compared with.
		return origin.Origin{}, fmt.Errorf("credential: the host of origin %q must be in its ASCII form (xn--…)", u.Scheme+"://"+u.Host)
	}
	return o, nil
}

// goesTo reports whether a request goes to an origin, and says so wherever a
// server may look: in its target, and in the header Host.
func goesTo(req *http.Request, to origin.Origin) bool {
	if req.Host != "" && req.Host != req.URL.Host {
		return false
	}
	o, ok := origin.Of(req.URL)
	return ok && o == to
}
