package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"drawbridge/config"
)

// CallbackPath is the path of the redirect URI at the OpenID provider.
const CallbackPath = Path + "/signin/callback"

const (
	// providerTimeout is the time limit of one request to the provider.
	providerTimeout = 5 * time.Second
	// rediscoverAfter is the age at which a provider's metadata is read again.
	rediscoverAfter = time.Hour
	// maxRedeeming is the most codes that are redeemed at a time.
	maxRedeeming = 8
	// retryAfter is the time after a failed discovery in which it is not repeated.
	retryAfter = 5 * time.Second
)

// OIDC signs people in at the OpenID provider of a configuration, by the authorization code flow with PKCE. It is safe for
// concurrent use.
type OIDC struct {
	client func(*config.ConsoleOIDC) (*http.Client, error)
	now    func() time.Time
	flows  flowSealer
	// redeeming has a place for each code that is redeemed at a time: anybody can bring a code, and each costs requests to the provider.
	redeeming chan struct{}

	mu       sync.Mutex
	provider *provider // the last one; nil before the first
}

// NewOIDC returns what signs people in. client returns the client for requests to a provider, with SSRF protection and a
// limit on responses; now is the clock.
func NewOIDC(client func(*config.ConsoleOIDC) (*http.Client, error), now func() time.Time) *OIDC {
	return &OIDC{client: client, now: now, flows: newFlowSealer(now), redeeming: make(chan struct{}, maxRedeeming)}
}

// Failure is an error of a sign-in at an OpenID provider.
type Failure struct {
	// Reason is for the person who signs in, as a sentence.
	Reason string
	// Unavailable reports that the provider failed, not the person.
	Unavailable bool
	cause       error // for the log
}

func (f *Failure) Error() string {
	if f.cause == nil {
		return f.Reason
	}
	return f.Reason + " (" + f.cause.Error() + ")"
}

// Unwrap returns the cause; nil if there is none.
func (f *Failure) Unwrap() error { return f.cause }

func failed(cause error, format string, args ...any) error {
	return &Failure{Reason: fmt.Sprintf(format, args...), cause: cause}
}

func unavailable(cause error, reason string) error {
	return &Failure{Reason: reason, cause: cause, Unavailable: true}
}

// Start begins a flow: it sets the cookie of the flow and returns the URL of the provider to go to. next is the page to go
// to afterwards.
func (o *OIDC) Start(w http.ResponseWriter, r *http.Request, a *config.Admin, next string) (location string, err error) {
	p, err := o.providerOf(r.Context(), a)
	if err != nil {
		return "", err
	}
	f := flow{State: secret(), Nonce: secret(), Verifier: oauth2.GenerateVerifier(), Next: next, Issuer: p.issuer, Began: o.now().Unix()}
	http.SetCookie(w, flowCookie(o.flows.seal(&f), int(flowLifetime/time.Second), a.ConsoleSecure()))
	return p.oauth.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// Finish ends the flow of a request to the redirect URI, removes its cookie, and returns who signed in and the page to go
// to. The error is a [*Failure].
func (o *OIDC) Finish(w http.ResponseWriter, r *http.Request, a *config.Admin) (who Identity, next string, err error) {
	http.SetCookie(w, flowCookie("", -1, a.ConsoleSecure()))
	q := r.URL.Query()
	f, ok := o.flows.open(r, a.ConsoleSecure())
	if !ok || subtle.ConstantTimeCompare([]byte(f.State), []byte(q.Get("state"))) != 1 {
		return who, "", failed(nil, "This sign-in was not begun in this browser, or more than %s ago. Begin again.", flowLifetime)
	}
	p, err := o.providerOf(r.Context(), a)
	if err != nil {
		return who, "", err
	}
	switch {
	case f.Issuer != p.issuer:
		return who, "", failed(nil, "The provider was changed meanwhile. Begin again.")
	case q.Has("iss") && q.Get("iss") != p.issuer || p.sendsIssuer && !q.Has("iss"): // RFC 9207 section 2.4
		return who, "", failed(nil, "The response comes from another provider.")
	case q.Get("error") != "":
		return who, "", failed(nil, "The provider did not sign you in: %s.", errorCode(q.Get("error")))
	case q.Get("code") == "":
		return who, "", failed(nil, "The provider's response has no code.")
	}
	select {
	case o.redeeming <- struct{}{}:
		defer func() { <-o.redeeming }()
	case <-r.Context().Done():
		return who, "", unavailable(r.Context().Err(), "Too many sign-ins are waiting for the provider.")
	}
	claims, err := p.claims(r.Context(), q.Get("code"), f)
	if err != nil {
		return who, "", err
	}
	who, ok = p.identity(claims)
	if !ok {
		return who, "", failed(nil, "%s is not let in: the claim %s of the ID token has no value that the configuration gives a role.", nameOf(claims), p.config.RolesClaim)
	}
	return who, f.Next, nil
}

// errorCode returns the error code of a provider's response (RFC 6749 section 4.1.2.1).
func errorCode(code string) string {
	const limit = 64
	for _, c := range code {
		if c <= ' ' || c > '~' || len(code) > limit {
			return "for a reason that is not one of OAuth 2.0"
		}
	}
	return code
}

// providerOf returns the provider of a configuration, with its metadata. While the provider is down, the last metadata
// count.
func (o *OIDC) providerOf(ctx context.Context, a *config.Admin) (*provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, now := o.provider, o.now()
	if p == nil || p.config != a.Console.OIDC || p.base != a.ConsoleURL() {
		client, err := o.client(a.Console.OIDC)
		if err != nil {
			return nil, unavailable(err, "The provider can't be asked: the log says why.")
		}
		p = &provider{config: a.Console.OIDC, base: a.ConsoleURL(), client: client, now: o.now, issuer: a.Console.OIDC.Issuer.String()}
		o.provider = p
	}
	if p.verifier != nil && now.Sub(p.discovered) < rediscoverAfter {
		return p, nil
	}
	if p.err == nil || now.Sub(p.tried) >= retryAfter {
		p.tried = now
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), providerTimeout)
		defer cancel()
		var found *provider
		if found, p.err = p.discover(ctx); found != nil {
			o.provider = found
			return found, nil
		}
	}
	if p.verifier != nil {
		return p, nil
	}
	return nil, unavailable(p.err, "The provider does not answer, or not as it should. The log says why.")
}

// errNoIDToken is the error of a token response without an ID token.
var errNoIDToken = errors.New("the response has no id_token")
