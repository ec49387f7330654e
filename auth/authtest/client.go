package authtest

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/text"
)

// Client is an application that may request tokens.
type Client struct {
	// ID is the client_id.
	ID string
	// Secret authenticates a confidential client, sent as client_secret_basic or
	// client_secret_post. If empty, the client is public.
	Secret string
	// Name is shown on the consent page; ID by default.
	Name string
	// RedirectURIs are the allowed redirect URIs. They are compared as a whole, except for the port
	// of a loopback address (RFC 8252 section 7.3).
	RedirectURIs []string
	// Grants are the allowed grant types. The default is authorization_code and refresh_token, for
	// a client with a secret also client_credentials and token exchange.
	Grants []string
	// Scopes are those that a token for the client itself may have, and that a token exchange may
	// add. If empty, a token for itself may have any, and an exchange adds none.
	Scopes []string
}

// Grant types besides those of public clients.
const (
	grantClient   = "client_credentials"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantBehalf   = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// maxName is the most characters of a name that are shown.
const maxName = 100

// client is a validated Client.
type client struct {
	Client
	since    time.Time
	document string // the host of its metadata document; empty if it registered or was configured
	unknown  bool   // nothing is known of it
}

func newClient(config Client) (*client, error) {
	c := &client{Client: config}
	c.RedirectURIs, c.Scopes = slices.Clone(config.RedirectURIs), slices.Clone(config.Scopes)
	if config.ID == "" {
		return nil, errors.New("no identifier")
	}
	if len(c.Grants) == 0 {
		c.Grants = []string{oauthserver.GrantCode, oauthserver.GrantRefresh}
		if c.Secret != "" {
			c.Grants = append(c.Grants, grantClient, grantExchange, grantBehalf)
		}
	}
	for _, grant := range c.Grants {
		if !slices.Contains([]string{oauthserver.GrantCode, oauthserver.GrantRefresh, grantClient, grantExchange, grantBehalf}, grant) {
			return nil, fmt.Errorf("unknown grant type %q", grant)
		}
		if c.Secret == "" && (grant == grantClient || grant == grantExchange || grant == grantBehalf) {
			return nil, fmt.Errorf("grant type %q needs a secret", grant) // RFC 6749 section 4.4
		}
	}
	for _, uri := range c.RedirectURIs {
		if reason := oauthserver.CheckRedirectURI(uri); reason != "" {
			return nil, fmt.Errorf("redirect URI %q %s", uri, reason)
		}
	}
	return c, nil
}

// title is the client's name on the consent page.
func (c *client) title() string {
	return text.TruncateRunes(cmp.Or(oauthserver.Printable(c.Name), oauthserver.Printable(c.ID)), maxName)
}

// allows reports whether a redirect URI is allowed.
func (c *client) allows(redirect string) bool {
	if c.unknown {
		u, err := url.Parse(redirect)
		return err == nil && oauthserver.CheckRedirectURI(redirect) == "" && u.Scheme == "http" // loopback, then
	}
	return oauthserver.AllowsRedirectURI(c.RedirectURIs, redirect)
}

// unknownClient returns a public client of which only the client_id is known.
func unknownClient(id string) *client {
	return &client{Client: Client{ID: id, Grants: []string{oauthserver.GrantCode, oauthserver.GrantRefresh}}, unknown: true}
}

// mayUse reports whether the client may use a grant type.
func (c *client) mayUse(grant string) bool { return slices.Contains(c.Grants, grant) }

// lookup returns a configured or registered client. The caller holds s.mu.
func (s *Server) lookup(id string, now time.Time) *client {
	if c := s.configured[id]; c != nil {
		return c
	}
	c, _ := s.registered.get(id, now)
	return c
}

// authenticate determines the client that sent a form (RFC 6749 section 2.3). A client with a
// metadata document and an unknown client are public, and can only use what was granted to them
// before.
func (s *Server) authenticate(r *http.Request, form oauthserver.Parameters) (*client, *oauthserver.Error) {
	fail := func(format string, args ...any) *oauthserver.Error {
		p := oauthserver.NewError(oauthserver.InvalidClient, format, args...)
		p.Status = http.StatusUnauthorized
		if r.Header["Authorization"] != nil {
			p.Challenge = `Basic realm="authtest"`
		}
		return p
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if values := r.Header["Authorization"]; len(values) > 0 {
		user, password, ok := r.BasicAuth()
		name, err1 := url.QueryUnescape(user) // section 2.3.1: both are form-encoded first
		pass, err2 := url.QueryUnescape(password)
		switch {
		case len(values) > 1 || !ok || err1 != nil || err2 != nil:
			return nil, fail("the Authorization header is not client_secret_basic")
		case secret != "":
			return nil, oauthserver.NewError(oauthserver.InvalidRequest, "two ways of client authentication at once")
		case id != "" && id != name:
			return nil, oauthserver.NewError(oauthserver.InvalidRequest, "client_id '%s' is not the client that authenticates itself", id)
		}
		id, secret = name, pass
	}
	if id == "" {
		return nil, fail("no client: send client_id")
	}
	s.mu.Lock()
	c := s.lookup(id, s.now())
	s.mu.Unlock()
	if c == nil && (oauthserver.IsMetadataURL(id) || s.strangers) {
		c = unknownClient(id)
	}
	switch {
	case c == nil:
		return nil, fail("client '%s' is unknown; it may have registered before a restart", id)
	case c.Secret == "" && secret != "":
		return nil, fail("client '%s' is public and has no secret", id)
	case subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) != 1:
		return nil, fail("the secret of client '%s' is missing or wrong", id)
	}
	return c, nil
}
