package authtest

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"drawbridge/gateway/origin"
	"drawbridge/openapi/truncate"
)

// Client is an application that may ask for tokens.
type Client struct {
	// ID is the client_id.
	ID string
	// Secret authenticates a confidential client, sent as client_secret_basic or client_secret_post. Empty: the client
	// is public.
	Secret string
	// Name is shown on the consent page. Default: ID.
	Name string
	// RedirectURIs are where answers may go. They are compared whole, but for the port of a loopback address
	// (RFC 8252 section 7.3).
	RedirectURIs []string
	// Grants are the grant types that it may use. Default: authorization_code and refresh_token; a client with a secret
	// may also use client_credentials and token exchange.
	Grants []string
	// Scopes are those that a token for the client itself may have, and that a token exchange may add. Empty: any for
	// itself, none added.
	Scopes []string
}

// Grant types.
const (
	grantCode     = "authorization_code"
	grantRefresh  = "refresh_token"
	grantClient   = "client_credentials"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// Limits on what a client says of itself.
const (
	maxRedirects = 16
	maxRedirect  = 2 << 10
	maxName      = 100 // runes that are shown
)

// client is a Client with good values.
type client struct {
	Client
	since    time.Time
	document string // the host where its metadata document stands; empty: it registered, or was known
	stranger bool   // nothing is known of it
}

func newClient(config Client) (*client, error) {
	c := &client{Client: config}
	c.RedirectURIs, c.Scopes = slices.Clone(config.RedirectURIs), slices.Clone(config.Scopes)
	if config.ID == "" {
		return nil, errors.New("no identifier")
	}
	if len(c.Grants) == 0 {
		c.Grants = []string{grantCode, grantRefresh}
		if c.Secret != "" {
			c.Grants = append(c.Grants, grantClient, grantExchange)
		}
	}
	for _, grant := range c.Grants {
		if !slices.Contains([]string{grantCode, grantRefresh, grantClient, grantExchange}, grant) {
			return nil, fmt.Errorf("unknown grant type %q", grant)
		}
		if c.Secret == "" && (grant == grantClient || grant == grantExchange) {
			return nil, fmt.Errorf("grant type %q needs a secret", grant) // RFC 6749 section 4.4
		}
	}
	for _, uri := range c.RedirectURIs {
		if reason := checkRedirect(uri); reason != "" {
			return nil, fmt.Errorf("redirect URI %q %s", uri, reason)
		}
	}
	return c, nil
}

// title is what the consent page calls the client.
func (c *client) title() string {
	return truncate.Runes(cmp.Or(shown(c.Name), shown(c.ID)), maxName)
}

// shown is a text that somebody else wrote, for the user to read: without control and format characters, with which a
// name can pretend to be another.
func shown(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r)) {
			return -1
		}
		return r
	}, text))
}

var plainHost = regexp.MustCompile(`^([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?$`)

// checkRedirect says what is wrong with a redirect URI, or "": https, http on loopback (RFC 8252 section 7.3), or an
// application's own scheme (section 7.1).
func checkRedirect(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || !u.IsAbs() || len(text) > maxRedirect:
		return "is not an absolute URI"
	case strings.ContainsAny(text, "# \"<>\\^`{|}") || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "has a fragment or a character that URIs do not have" // RFC 6749 section 3.1.2
	case u.User != nil:
		return "has a user"
	case !plainHost.MatchString(u.Host):
		return "has a host with other characters than those of names and addresses" // it stands in the consent page's policy
	}
	switch strings.ToLower(u.Scheme) {
	case "https":
		if u.Hostname() == "" {
			return "has no host"
		}
	case "http":
		if !origin.Loopback(u.Hostname()) {
			return "is http, but not on loopback"
		}
	case "javascript", "data", "vbscript", "blob", "about", "file", "filesystem", "ftp", "ws", "wss", "mailto", "view-source":
		return "has a scheme that no application can have for itself"
	default:
		if !strings.HasPrefix(u.Path, "/") && u.Host == "" {
			return "has no path"
		}
	}
	return ""
}

// allows reports whether an answer may go to a redirect URI.
func (c *client) allows(redirect string) bool {
	if c.stranger {
		u, err := url.Parse(redirect)
		return err == nil && checkRedirect(redirect) == "" && u.Scheme == "http" // loopback, then
	}
	without := withoutPort(redirect)
	return slices.ContainsFunc(c.RedirectURIs, func(uri string) bool {
		return uri == redirect || without != "" && without == withoutPort(uri)
	})
}

// withoutPort returns an http URI of a loopback host without its port, or "" if it is none. An application on the
// machine takes the port that it gets.
func withoutPort(text string) string {
	rest, ok := strings.CutPrefix(text, "http://")
	u, err := url.Parse(text)
	if !ok || err != nil || checkRedirect(text) != "" {
		return ""
	}
	return "http://" + strings.TrimSuffix(u.Host, ":"+u.Port()) + strings.TrimPrefix(rest, u.Host)
}

// stranger is a public client of which only the name is known.
func stranger(id string) *client {
	return &client{Client: Client{ID: id, Grants: []string{grantCode, grantRefresh}}, stranger: true}
}

// mayUse reports whether the client may use a grant type.
func (c *client) mayUse(grant string) bool { return slices.Contains(c.Grants, grant) }

// lookup returns a client that is known or registered. The caller holds s.mu.
func (s *Server) lookup(id string, now time.Time) *client {
	if c := s.known[id]; c != nil {
		return c
	}
	c, _ := s.registered.get(id, now)
	return c
}

// authenticate finds out which client sends a form (RFC 6749 section 2.3). A client that is a metadata document, and one
// that is not known, is public and has only what was granted to it before.
func (s *Server) authenticate(r *http.Request, form parameters) (*client, *problem) {
	fail := func(format string, args ...any) *problem {
		p := newProblem(invalidClient, format, args...)
		p.status = http.StatusUnauthorized
		if r.Header["Authorization"] != nil {
			p.challenge = `Basic realm="authtest"`
		}
		return p
	}
	id, secret := form.get("client_id"), form.get("client_secret")
	if values := r.Header["Authorization"]; len(values) > 0 {
		user, password, ok := r.BasicAuth()
		name, err1 := url.QueryUnescape(user) // section 2.3.1: both are form-encoded first
		pass, err2 := url.QueryUnescape(password)
		switch {
		case len(values) > 1 || !ok || err1 != nil || err2 != nil:
			return nil, fail("the Authorization header is not client_secret_basic")
		case secret != "":
			return nil, newProblem(invalidRequest, "two ways of client authentication at once")
		case id != "" && id != name:
			return nil, newProblem(invalidRequest, "client_id '%s' is not the client that authenticates itself", id)
		}
		id, secret = name, pass
	}
	if id == "" {
		return nil, fail("no client: send client_id")
	}
	s.mu.Lock()
	c := s.lookup(id, s.now())
	s.mu.Unlock()
	if c == nil && (isDocument(id) || s.strangers) {
		c = stranger(id)
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
