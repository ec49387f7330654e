package relyingparty

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// requestTimeout is the time limit of one request to the provider.
	requestTimeout = 5 * time.Second
	// rediscoverAfter is the age at which a provider's metadata is read again.
	rediscoverAfter = time.Hour
	// maxRedeeming is the most codes and refresh tokens that are redeemed at a time.
	maxRedeeming = 8
	// retryAfter is the time after a failed discovery in which it is not repeated.
	retryAfter = 5 * time.Second
)

// Client is the registration of a party at its provider.
type Client struct {
	Issuer      string // the provider's issuer identifier
	ID          string
	Secret      string // "" for a public client
	RedirectURI string
	Scopes      []string          // besides openid
	Parameters  map[string]string // further parameters of authorization requests
	HTTP        *http.Client      // with SSRF protection and a limit on responses
	// Endpoint is that of an authorization server that is no OpenID provider, whose Issuer is a name by which the caller knows it. It has
	// no metadata and no ID tokens, and its responses have no issuer that could be compared: RedirectURI must be its own (RFC 9700
	// section 4.4.2.2). nil for an OpenID provider.
	Endpoint *oauth2.Endpoint
}

// Options are the parameters of [New].
type Options struct {
	Client Client
	// Sealer seals logins that are under way. Every process with its keys can finish them.
	Sealer Sealer
	Cookie Cookie
	// Now is the clock.
	Now func() time.Time
}

// Sealer encrypts and authenticates texts (AEAD). A handle opens only unaltered, and only with the bound that it was sealed with, which is
// associated data and not part of the handle.
type Sealer interface {
	Seal(text, bound []byte) (handle string)
	Open(handle string, bound []byte) (text []byte, err error)
}

// Party is a relying party (OpenID Connect Core section 1.2): the client that logs people in at one provider. It is safe for concurrent use.
type Party struct {
	o Options
	// redeeming is a semaphore for requests to the token endpoint: anybody can present a code, and each costs requests to the provider.
	redeeming chan struct{}

	mu       sync.Mutex
	provider *provider // nil before the first discovery
	tried    time.Time // of the last discovery
	err      error     // of the last discovery
}

// New returns a party. It sends no request: the provider's metadata are read when they are needed first.
func New(o Options) *Party {
	return &Party{o: o, redeeming: make(chan struct{}, maxRedeeming)}
}

// Login is a login after the provider's redirect, whose code has not been redeemed. Any party with the same client can redeem it.
type Login struct {
	Code     string `json:"c"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	// Data is that of [Party.Begin].
	Data json.RawMessage `json:"-"`
}

// Tokens are the tokens of a login.
type Tokens struct {
	*oauth2.Token
	// Claims are those of the verified ID token; nil after a refresh, and without an OpenID provider.
	Claims map[string]any
}

// Begin begins a login: it sets the cookie of the login and returns the URL of the provider to go to. data is JSON, and comes back with
// the callback; scopes are requested besides those of the client. The error is a [*Failure].
func (p *Party) Begin(w http.ResponseWriter, r *http.Request, data json.RawMessage, scopes ...string) (location string, err error) {
	at, err := p.discovered(r.Context())
	if err != nil {
		return "", err
	}
	l := pending{State: secret(), Nonce: secret(), Verifier: oauth2.GenerateVerifier(), Issuer: p.o.Client.Issuer, Began: p.o.Now().Unix(), Data: data}
	if err := p.setCookie(w, &l); err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(l.Verifier)}
	if at.verifier != nil {
		options = append(options, oidc.Nonce(l.Nonce))
	}
	if len(scopes) > 0 {
		options = append(options, oauth2.SetAuthURLParam("scope", strings.Join(append(slices.Clone(at.oauth.Scopes), scopes...), " ")))
	}
	for name, value := range p.o.Client.Parameters {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return at.oauth.AuthCodeURL(l.State, options...), nil
}

// Callback checks a request to the redirect URI and removes the cookie of its login. The error is a [*Failure]; with it, the login is
// returned if it was begun in this browser, so that its data tell where to report the failure.
func (p *Party) Callback(w http.ResponseWriter, r *http.Request) (*Login, error) {
	q := r.URL.Query()
	if len(q["state"]) > 1 || len(q["code"]) > 1 || len(q["iss"]) > 1 {
		return nil, failed("The response of the provider has a parameter twice.")
	}
	l, ok := p.takeCookie(w, r, q.Get("state"))
	if !ok || subtle.ConstantTimeCompare([]byte(l.State), []byte(q.Get("state"))) != 1 {
		return nil, failed("This sign-in was not begun in this browser, or more than %s ago. Begin again.", lifetime)
	}
	login := &Login{Code: q.Get("code"), Nonce: l.Nonce, Verifier: l.Verifier, Data: l.Data}
	at, err := p.discovered(r.Context())
	if err != nil {
		return login, err
	}
	switch {
	case l.Issuer != p.o.Client.Issuer:
		return login, failed("The provider was changed meanwhile. Begin again.")
	case at.verifier != nil && q.Has("iss") && q.Get("iss") != p.o.Client.Issuer || at.sendsIssuer && !q.Has("iss"): // RFC 9207 section 2.4
		return login, failed("The response comes from another provider.")
	case q.Get("error") != "":
		code := errorCode(q.Get("error"))
		return login, &Failure{Reason: fmt.Sprintf("The provider did not sign you in: %s.", code), Code: code}
	case q.Get("code") == "":
		return login, failed("The provider's response has no code.")
	}
	return login, nil
}

// Redeem redeems the code of a login, once, and verifies the ID token. The error is a [*Failure].
func (p *Party) Redeem(ctx context.Context, l *Login) (*Tokens, error) {
	at, release, err := p.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, p.o.Client.HTTP), 2*requestTimeout)
	defer cancel()
	token, err := at.oauth.Exchange(ctx, l.Code, oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return nil, tokenError(err, "The code of this sign-in is no longer valid. Begin again.")
	}
	if at.verifier == nil {
		return &Tokens{Token: token}, nil
	}
	claims, err := at.verify(ctx, token, l.Nonce, p.o.Client.ID)
	if err != nil {
		return nil, err
	}
	return &Tokens{Token: token, Claims: claims}, nil
}

// Refresh gets new tokens. Their RefreshToken is the same if the provider does not rotate it. The error is a [*Failure].
func (p *Party) Refresh(ctx context.Context, refreshToken string) (*Tokens, error) {
	at, release, err := p.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, p.o.Client.HTTP), requestTimeout)
	defer cancel()
	token, err := at.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	if err != nil {
		return nil, tokenError(err, "The refresh token is no longer valid. Sign in again.")
	}
	return &Tokens{Token: token}, nil
}

// Host returns the host of the provider at which people sign in; that of its issuer before the metadata are read.
func (p *Party) Host() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	location := p.o.Client.Issuer
	if e := p.o.Client.Endpoint; e != nil {
		location = e.AuthURL
	}
	if p.provider != nil {
		location = p.provider.oauth.Endpoint.AuthURL
	}
	if u, err := url.Parse(location); err == nil {
		return u.Host
	}
	return location
}

// acquire waits for a slot of the semaphore, which release frees.
func (p *Party) acquire(ctx context.Context) (at *provider, release func(), err error) {
	if at, err = p.discovered(ctx); err != nil {
		return nil, nil, err
	}
	select {
	case p.redeeming <- struct{}{}:
		return at, func() { <-p.redeeming }, nil
	case <-ctx.Done():
		return nil, nil, unavailable(ctx.Err(), "Too many sign-ins are waiting for the provider.")
	}
}

// discovered returns the provider with its metadata. While the provider is down, the last ones remain in use.
func (p *Party) discovered(ctx context.Context) (*provider, error) {
	if p.o.Client.Endpoint != nil {
		return configured(&p.o.Client), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Now()
	if p.provider != nil && now.Sub(p.provider.since) < rediscoverAfter {
		return p.provider, nil
	}
	if p.err == nil || now.Sub(p.tried) >= retryAfter {
		p.tried = now
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
		defer cancel()
		var found *provider
		if found, p.err = discover(ctx, &p.o); found != nil {
			p.provider = found
		}
	}
	if p.provider != nil {
		return p.provider, nil
	}
	return nil, unavailable(p.err, "The provider does not answer, or not as it should. The log says why.")
}

// errorCode returns the error code of a provider's response (RFC 6749 section 4.1.2.1).
func errorCode(code string) string {
	const limit = 64
	if len(code) > limit || strings.ContainsFunc(code, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
		return "for a reason that is not one of OAuth 2.0"
	}
	return code
}

// secret returns 256 random bits.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
