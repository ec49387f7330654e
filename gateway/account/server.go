package account

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"drawbridge/auth/relyingparty"
	"drawbridge/config"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/loginpage"
	"drawbridge/gateway/state"
)

// Paths below the public URL.
const (
	// LinkPath is the beginning of the path of links.
	LinkPath = "/account/connect/"
	// CallbackPath is the beginning of the path of redirect URIs at services; the name of the API follows.
	CallbackPath = "/account/callback/"
)

// rate is the limit of one address on requests. A connection costs four; many users may share an address.
var rate = state.Limit{Interval: time.Second, Burst: 120}

// Server serves the pages by which users connect accounts. It is safe for concurrent use.
type Server struct {
	accounts *Accounts
	counts   *state.LocalRateCounters

	mu      sync.Mutex
	of      *config.Config // that the parties were made for
	parties map[string]*relyingparty.Party
}

// NewServer returns a server that has not asked any issuer yet.
func NewServer(a *Accounts) *Server {
	return &Server{accounts: a, counts: state.NewLocalRateCounters(0, a.o.Now)}
}

// connectView is the data of the page behind a link.
type connectView struct {
	Gateway, API, Service, Issuer string // hosts, but for API
	Scopes                        []string
	Action                        string
}

// ServeHTTP implements [http.Handler], for the paths below /account/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	if len(s.accounts.o.Services()) == 0 {
		http.NotFound(w, r)
		return
	}
	if wait := s.wait(r); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		s.refuse(w, r, http.StatusTooManyRequests, "Too many requests come from this address. Try again in a moment.")
		return
	}
	path := r.URL.EscapedPath()
	handle, isLink := strings.CutPrefix(path, LinkPath)
	switch {
	case r.Method != http.MethodGet && !(isLink && r.Method == http.MethodPost):
		h.Set("Allow", "GET")
		if isLink {
			h.Set("Allow", "GET, POST")
		}
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case isLink:
		s.serveLink(w, r, handle)
	case strings.HasPrefix(path, CallbackPath):
		s.serveCallback(w, r, path)
	default:
		s.serveLogin(w, r, path)
	}
}

// wait counts a request and returns the time until it is allowed; 0 if it is now.
func (s *Server) wait(r *http.Request) time.Duration {
	a, ok := s.accounts.o.Address(r)
	if !ok {
		return 0
	}
	d, _ := s.counts.Take(r.Context(), clientip.KeyOf(a).Network().String(), rate, 1)
	return d.RetryAfter
}

const (
	expired    = "This link is too old, or the configuration has changed. Call the tool again to get another one."
	otherUser  = "You are signed in as another user than the one who called the tool. Nothing was sent to the service. If you did not call a tool yourself, close this page: somebody else has sent you this link."
	notOffered = "The gateway can't sign in users of this issuer any more."
)

// serveLink shows the page behind a link, and begins the login at the caller's issuer when its form is posted. Opening the link has no
// effect, because mail filters and previews open links, too.
func (s *Server) serveLink(w http.ResponseWriter, r *http.Request, handle string) {
	l, service, ok := s.accounts.openLink(handle)
	if !ok {
		s.refuse(w, r, http.StatusBadRequest, expired)
		return
	}
	issuer := s.accounts.issuer(l.Issuer)
	if issuer == nil {
		s.refuse(w, r, http.StatusBadRequest, notOffered)
		return
	}
	base := s.accounts.publicURL()
	if r.Method == http.MethodGet {
		loginpage.Write(w, r, http.StatusOK, connectPage(connectView{
			Gateway: hostOf(base), API: service.api, Service: hostOf(service.credential.AuthorizeURL.String()), Issuer: hostOf(l.Issuer), Scopes: l.Scopes, Action: pathOf(base) + LinkPath + handle,
		}))
		return
	}
	if !loginpage.Posted(r, base) {
		s.refuse(w, r, http.StatusForbidden, "This request comes from a page of another site.")
		return
	}
	party, err := s.party(issuer, l.Issuer)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	data, err := json.Marshal(l)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	location, err := party.Begin(w, r, data)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	loginpage.Continue(w, r, party.Host(), location)
}

// serveLogin serves the redirect URI at an issuer. If the user is the caller for whom the link was made, the login at the service begins.
func (s *Server) serveLogin(w http.ResponseWriter, r *http.Request, path string) {
	issuer, identifier := s.issuerAt(path)
	if issuer == nil {
		http.NotFound(w, r)
		return
	}
	party, err := s.party(issuer, identifier)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	login, err := party.Callback(w, r)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	l, service, ok := s.accounts.checkLink(login.Data)
	if !ok {
		s.refuse(w, r, http.StatusBadRequest, expired)
		return
	}
	tokens, err := party.Redeem(r.Context(), login)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	if name, _ := tokens.Claims["iss"].(string); name != l.Issuer || name != identifier || tokens.Claims["sub"] != l.Subject {
		s.accounts.o.Log.WarnContext(r.Context(), "a link to connect an account was opened by another user than the one it was made for", "api", service.api)
		s.refuse(w, r, http.StatusForbidden, otherUser)
		return
	}
	location, err := service.oauth().Begin(w, r, login.Data, l.Scopes...)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	http.Redirect(w, r, location, http.StatusFound)
}

// serveCallback serves the redirect URI at a service: the account is kept for the caller for whom the link was made. The cookie of the
// login was set after that caller had signed in, in this browser.
func (s *Server) serveCallback(w http.ResponseWriter, r *http.Request, path string) {
	var service *Service
	for _, one := range s.accounts.o.Services() {
		if one.callbackPath() == path {
			service = one
		}
	}
	if service == nil {
		http.NotFound(w, r)
		return
	}
	login, err := service.oauth().Callback(w, r)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	l, of, ok := s.accounts.checkLink(login.Data)
	if !ok || of.callbackPath() != path || of.provider != service.provider {
		s.refuse(w, r, http.StatusBadRequest, expired)
		return
	}
	service = of // at the server that the link names
	if first, err := s.accounts.o.Spent.Spend(r.Context(), l.Issuer+"|"+l.Subject, "account link "+l.ID, time.Unix(l.Until, 0)); err != nil || !first {
		s.refuse(w, r, http.StatusBadRequest, "This link was used before. Call the tool again to get another one.")
		return
	}
	tokens, err := service.oauth().Redeem(r.Context(), login)
	if err == nil {
		err = usable(tokens.Token)
	}
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	now := s.accounts.o.Now()
	account := &stored{Service: service.id, Account: Account{
		API: service.api, Scheme: service.scheme, Server: service.server, Issuer: l.Issuer, Subject: l.Subject, Scopes: l.Scopes, Connected: now,
	}}
	account.setTokens(tokens.Token, now)
	if err := s.accounts.save(r.Context(), nameOf(service.id, l.Issuer, l.Subject), account); err != nil {
		s.loginFailed(w, r, err)
		return
	}
	s.accounts.o.Log.InfoContext(r.Context(), "an account at a service was connected", "api", service.api)
	loginpage.Write(w, r, http.StatusOK, loginpage.Show(loginpage.Message{
		Title: "Your account is connected", Text: "The gateway now uses your account at " + service.api + " for your calls. You can close this page, and go on in your client.",
	}))
}

// issuerAt returns the issuer whose redirect URI has a path, and its identifier; nil if there is none.
func (s *Server) issuerAt(path string) (issuer *config.Issuer, identifier string) {
	c := s.accounts.o.Config()
	if c.Auth == nil {
		return nil, ""
	}
	for i := range c.Auth.Issuers {
		is := &c.Auth.Issuers[i]
		for _, identifier := range is.Identifiers() {
			if is.Login != nil && config.LoginPath(identifier) == path {
				return is, identifier
			}
		}
	}
	return nil, ""
}

// party returns the client of the gateway at an issuer, by its identifier: each directory of an issuer has one.
func (s *Server) party(issuer *config.Issuer, name string) (*relyingparty.Party, error) {
	c, base := s.accounts.o.Config(), s.accounts.publicURL()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of != c {
		s.of, s.parties = c, map[string]*relyingparty.Party{}
	}
	if s.parties[name] == nil {
		client, err := s.accounts.o.Provider(issuer)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(base)
		if err != nil {
			return nil, err
		}
		s.parties[name] = relyingparty.New(relyingparty.Options{
			Client: relyingparty.Client{
				Issuer: name, ID: issuer.Login.ClientID, Secret: issuer.Login.ClientSecret.Reveal(), RedirectURI: base + config.LoginPath(name), HTTP: client,
			},
			Sealer: s.accounts.o.Sealer, Now: s.accounts.o.Now,
			Cookie: relyingparty.Cookie{Name: "drawbridge_account", Path: u.EscapedPath() + config.LoginPath(name), Secure: u.Scheme == "https", Parallel: true},
		})
	}
	return s.parties[name], nil
}

// loginFailed shows the failure of a login.
func (s *Server) loginFailed(w http.ResponseWriter, r *http.Request, err error) {
	s.accounts.o.Log.WarnContext(r.Context(), "an account at a service could not be connected", "reason", err)
	var failure *relyingparty.Failure
	switch {
	case !errors.As(err, &failure):
		s.refuse(w, r, http.StatusBadGateway, "The account could not be connected. The log of the gateway says why.")
	case failure.Unavailable:
		s.refuse(w, r, http.StatusBadGateway, failure.Reason)
	default:
		s.refuse(w, r, http.StatusBadRequest, failure.Reason)
	}
}

// refuse shows why a connection can't go on, on a page without links.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, reason string) {
	loginpage.Write(w, r, status, loginpage.Show(loginpage.Message{Title: "This account can't be connected", Text: reason}))
}
