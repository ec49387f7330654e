package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/auth/relyingparty"
	"drawbridge/config"
	"drawbridge/openapi/origin"
)

// ServiceOptions describe a service.
type ServiceOptions struct {
	// API is the name of the API, Scheme that of the security scheme; "" for the credential of the whole API.
	API, Scheme string
	// Server identifies the server among those that claims of callers select; "" if all calls have the same.
	Server     string
	Credential *config.Credential
	// Origin is the only origin that gets the tokens.
	Origin *url.URL
	// Client sends requests to the authorization server, with SSRF protection and a limit on responses.
	Client *http.Client
}

// Service is a service at which callers have accounts. It implements [credential.Accounts].
type Service struct {
	accounts            *Accounts
	id                  string // digest of everything that decides where tokens go
	provider            string // digest of what the servers of one API share: everything but the server and its origin
	api, scheme, server string
	credential          *config.Credential
	client              *http.Client
	downUntil           atomic.Int64 // Unix ns: the token endpoint did not answer

	mu    sync.Mutex
	at    string // public URL that party was made for
	party *relyingparty.Party
}

// Service returns a service.
func (a *Accounts) Service(o ServiceOptions) *Service {
	c := o.Credential
	to, _ := origin.Of(o.Origin)
	return &Service{
		accounts: a, api: o.API, scheme: o.Scheme, server: strings.TrimSpace(o.Server), credential: c, client: o.Client,
		id:       digestOf(o.API, o.Scheme, c.AuthorizeURL.String(), c.TokenURL.String(), c.ClientID, to.String(), o.Server),
		provider: digestOf(o.API, o.Scheme, c.AuthorizeURL.String(), c.TokenURL.String(), c.ClientID),
	}
}

// Scopes returns the scopes that each connection requests, besides those of operations.
func (s *Service) Scopes() []string { return s.credential.Scopes }

// callbackPath returns the path of the redirect URI at the service. Each authorization server has its own, so that the response of one can't
// be taken for that of another (RFC 9700 section 4.4.2.2). The servers of one API share it.
func (s *Service) callbackPath() string {
	path := CallbackPath + url.PathEscape(s.api)
	if s.scheme != "" {
		path += "/" + url.PathEscape(s.scheme)
	}
	return path
}

// oauth returns the client of the gateway at the service.
func (s *Service) oauth() *relyingparty.Party {
	base := s.accounts.publicURL()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.party == nil || s.at != base {
		c := s.credential
		style := oauth2.AuthStyleInParams
		if c.ClientAuth == config.ClientSecretBasic {
			style = oauth2.AuthStyleInHeader
		}
		s.at = base
		s.party = relyingparty.New(relyingparty.Options{
			Client: relyingparty.Client{
				Issuer: s.provider, ID: c.ClientID, Secret: c.ClientSecret.Reveal(), RedirectURI: base + s.callbackPath(), Parameters: c.Parameters, HTTP: s.client,
				Endpoint: &oauth2.Endpoint{AuthURL: c.AuthorizeURL.String(), TokenURL: c.TokenURL.String(), AuthStyle: style},
			},
			Sealer: s.accounts.o.Sealer, Now: s.accounts.o.Now,
			Cookie: relyingparty.Cookie{Name: "drawbridge_service", Path: pathOf(base) + s.callbackPath(), Secure: strings.HasPrefix(base, "https:"), Parallel: true},
		})
	}
	return s.party
}

// Connected reports whether a caller has an account with these scopes. The error is a [*credential.TokenError].
func (s *Service) Connected(ctx context.Context, p *auth.Principal, scopes []string) (bool, error) {
	if !hasIdentity(p) {
		return false, s.noCaller()
	}
	found, err := s.accounts.load(ctx, nameOf(s.id, p.Issuer, p.Subject))
	if err != nil {
		return false, s.failed(credential.Unavailable, err)
	}
	return found != nil && found.isUsable(s.accounts.o.Now(), slices.Concat(s.credential.Scopes, scopes)), nil
}

// hasIdentity reports whether a caller can have an account: a user of an issuer. A key (auth.keys) has no issuer, and whoever has it would
// have the account.
func hasIdentity(p *auth.Principal) bool {
	return p != nil && p.Credential != auth.CredentialAPIKey && p.Issuer != "" && p.Subject != ""
}

func (s *Service) noCaller() error { return s.failed(credential.NoCaller, nil) }

func (s *Service) failed(f credential.Failure, cause error) error {
	return credential.NewAccountError(f, hostOf(s.credential.TokenURL.String()), cause)
}

// Token implements [credential.Accounts].
func (s *Service) Token(ctx context.Context) (string, error) {
	p := auth.FromContext(ctx)
	if !hasIdentity(p) {
		return "", s.noCaller()
	}
	name := nameOf(s.id, p.Issuer, p.Subject)
	found, err := s.accounts.load(ctx, name)
	switch {
	case err != nil:
		return "", s.failed(credential.Unavailable, err)
	case found == nil:
		return "", s.failed(credential.NoAccount, nil)
	case found.isFresh(s.accounts.o.Now()):
		return found.Access, nil
	}
	text, err := s.refresh(ctx, name, found.Access)
	if err != nil && found.isValid(s.accounts.o.Now()) && !isGone(err) {
		return found.Access, nil
	}
	return text, err
}

// isGone reports whether the account of an error is gone.
func isGone(err error) bool {
	var known *credential.TokenError
	return errors.As(err, &known) && known.Failure == credential.NoAccount
}

// Renew implements [credential.Accounts].
func (s *Service) Renew(ctx context.Context, rejected string) (string, error) {
	p := auth.FromContext(ctx)
	if !hasIdentity(p) {
		return "", s.noCaller()
	}
	text, err := s.refresh(ctx, nameOf(s.id, p.Issuer, p.Subject), rejected)
	if isGone(err) {
		return "", nil
	}
	return text, err
}

// Forget implements [credential.Accounts].
func (s *Service) Forget(ctx context.Context, rejected string) {
	p := auth.FromContext(ctx)
	if !hasIdentity(p) {
		return
	}
	name := nameOf(s.id, p.Issuer, p.Subject)
	if found, err := s.accounts.load(ctx, name); err == nil && found != nil && found.Access == rejected {
		s.drop(ctx, name, found, "the service rejects its tokens")
	}
}

// drop removes an account that can't be used any more.
func (s *Service) drop(ctx context.Context, name string, found *stored, reason string) {
	err := s.accounts.remove(context.WithoutCancel(ctx), name, found)
	s.accounts.o.Log.InfoContext(ctx, "an account at a service can't be used any more; its user is asked to connect it again", "api", s.api, "reason", reason, "error", err)
}

const (
	// refreshTime is the time limit of a refresh.
	refreshTime = 5 * time.Second
	// lockedPause is the time between two looks at an account that another call or replica refreshes.
	lockedPause = 50 * time.Millisecond
	// downPause is the time for which a token endpoint that did not answer is not asked again.
	downPause = time.Second
)

// refresh returns another access token than a stale one. One call at all replicas refreshes it, because many services accept a refresh
// token once; the others wait for what it has got.
func (s *Service) refresh(ctx context.Context, name, stale string) (string, error) {
	for {
		release, ok, err := s.accounts.o.Locks.LockShared(ctx, "account "+name)
		if ok {
			defer release()
		}
		var found *stored
		if err == nil {
			found, err = s.accounts.latest(ctx, name)
		}
		switch {
		case err != nil:
			return "", s.failed(credential.Unavailable, err)
		case found == nil:
			return "", s.failed(credential.NoAccount, nil)
		case found.Access != stale:
			return found.Access, nil
		case ok:
			return s.refreshLocked(ctx, name, found)
		}
		select {
		case <-ctx.Done():
			return "", s.failed(credential.Unavailable, ctx.Err())
		case <-time.After(lockedPause):
		}
	}
}

// refreshLocked refreshes the tokens of an account whose lock is held.
func (s *Service) refreshLocked(ctx context.Context, name string, found *stored) (string, error) {
	now := s.accounts.o.Now()
	if found.Refresh == "" {
		s.drop(ctx, name, found, "there is no refresh token")
		return "", s.failed(credential.NoAccount, nil)
	}
	if now.UnixNano() < s.downUntil.Load() {
		return "", s.failed(credential.Unavailable, errDown)
	}
	// The refresh goes on when the caller leaves: the service may have used up the refresh token.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
	defer cancel()
	got, err := s.oauth().Refresh(ctx, found.Refresh)
	if err == nil {
		err = usable(got.Token)
	}
	var failure *relyingparty.Failure
	switch {
	case errors.As(err, &failure) && failure.Code == "invalid_grant":
		s.drop(ctx, name, found, "the service no longer accepts its refresh token")
		return "", s.failed(credential.NoAccount, nil)
	case err != nil:
		s.downUntil.Store(now.Add(downPause).UnixNano())
		return "", s.failed(credential.Unavailable, err)
	}
	// A command beside the gateway may have revoked the account meanwhile, or its user may have connected another one.
	switch present, err := s.accounts.latest(ctx, name); {
	case err != nil:
		return "", s.failed(credential.Unavailable, err)
	case present == nil:
		s.revokeUnused(ctx, got.Token)
		return "", s.failed(credential.NoAccount, nil)
	case present.Access != found.Access:
		return present.Access, nil
	}
	found.setTokens(got.Token, now)
	if err := s.accounts.save(ctx, name, found); err != nil {
		return "", s.failed(credential.Unavailable, err)
	}
	return found.Access, nil
}

var errDown = errors.New("the token endpoint did not answer a moment ago")

// setTokens sets the tokens of a response.
func (s *stored) setTokens(t *oauth2.Token, now time.Time) {
	s.Access, s.Refresh, s.Expiry, s.Refreshed = t.AccessToken, t.RefreshToken, t.Expiry, now
}

// maxToken is the most bytes of an access token.
const maxToken = 16 << 10

// usable returns why an access token can't be sent; nil if it can.
func usable(t *oauth2.Token) error {
	switch {
	case t.TokenType != "" && !auth.IsBearerType(t.TokenType):
		return errors.New("the token is not a bearer token")
	case len(t.AccessToken) > maxToken:
		return fmt.Errorf("the token has more than %d bytes", maxToken)
	case strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the token has a character that can't stand in a header")
	}
	return nil
}

// hostOf returns the host of a URL.
func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Host
	}
	return ""
}

// pathOf returns the path of a URL; "" for none.
func pathOf(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.EscapedPath()
	}
	return ""
}
