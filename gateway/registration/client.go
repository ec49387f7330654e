package registration

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/origin"
	"drawbridge/openapi/text"
)

const (
	// maxDocument is the most bytes of a client ID metadata document.
	maxDocument = 64 << 10
	// documentLifetime is how long a metadata document is used before it is fetched again, and maxDocuments how many are kept.
	documentLifetime = 5 * time.Minute
	maxDocuments     = 256
	// maxFetches is the most metadata documents that are fetched at a time.
	maxFetches = 8
	// documentTime is the time limit of a fetch.
	documentTime = 5 * time.Second
	// maxName is the most characters of a client's name.
	maxName = 100
	// maxRedirectURIs is the most bytes of the redirect URIs of a client that registers: they are in its client ID.
	maxRedirectURIs = 2 << 10
	// maxClientID is the most bytes of a client ID.
	maxClientID = 4 << 10
)

// client is a client that wants to log in. All clients are public.
type client struct {
	title        string // for the consent page; chosen by the client
	redirectURIs []string
	refresh      bool // it may have refresh tokens
}

// findClient returns the client with an ID. The error is for the user.
func (s *Server) findClient(ctx context.Context, g *generation, id string) (*client, *oauthserver.Error) {
	if oauthserver.IsMetadataURL(id) {
		m, p := g.documents.get(ctx, id, s.limits)
		if p != nil {
			return nil, p
		}
		u, err := url.Parse(id)
		if err != nil {
			return nil, unknownClient()
		}
		return &client{
			title: title(m.Name, u.Host), redirectURIs: m.RedirectURIs, refresh: slices.Contains(m.Grants, oauthserver.GrantRefresh),
		}, nil
	}
	var r registered
	if len(id) > maxClientID || s.seals.open(id, "client", &r) != nil {
		return nil, unknownClient()
	}
	return &client{title: title(r.Name, "A client without a name"), redirectURIs: r.RedirectURIs, refresh: r.Refresh}, nil
}

// isClient reports whether a client ID was issued by the gateway or is the URL of a metadata document. The document is not fetched: a code
// or refresh token opens only with the client ID that it was issued to, after the document was checked.
func (s *Server) isClient(id string) bool {
	var r registered
	return oauthserver.IsMetadataURL(id) || len(id) <= maxClientID && s.seals.open(id, "client", &r) == nil
}

func unknownClient() *oauthserver.Error {
	p := oauthserver.NewError(oauthserver.InvalidClient, "the client is unknown: it has to register again, as the keys of the gateway may have changed")
	p.Status = http.StatusUnauthorized
	return p
}

// title returns the name of a client for the consent page.
func title(name, otherwise string) string {
	return text.TruncateRunes(cmp.Or(oauthserver.Printable(name), otherwise), maxName)
}

// checkTarget returns the reason that the configuration does not allow a redirect URI; "" if it does.
func (g *generation) checkTarget(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return "is not a URI"
	}
	if hosts := g.config.RedirectHosts; u.Scheme == "https" && len(hosts) > 0 &&
		!slices.ContainsFunc(hosts, func(host string) bool { return origin.Lower(host) == origin.Lower(u.Hostname()) }) {
		return "has a host that auth.registration.redirect_hosts does not list"
	}
	return ""
}

// serveRegister registers a public client (RFC 7591 section 3). Nothing is stored: the client ID is the registration.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request, g *generation) {
	m, p := oauthserver.ReadRegistration(w, r)
	if p == nil {
		p = g.checkRegistration(m)
	}
	if p == nil {
		m.Name, m.IssuedAt = text.TruncateRunes(oauthserver.Printable(m.Name), maxName), s.o.Now().Unix()
		var err error
		m.ID, err = s.seals.seal("client", registered{m.Name, m.RedirectURIs, slices.Contains(m.Grants, oauthserver.GrantRefresh), m.IssuedAt})
		if err != nil || len(m.ID) > maxClientID {
			p = oauthserver.NewError(oauthserver.InvalidClientMetadata, "client_name and redirect_uris are too long")
		}
	}
	if p != nil {
		s.o.Log.DebugContext(r.Context(), "a registration was refused", "error", p.Code, "reason", p.Description)
		p.Write(w)
		return
	}
	s.o.Log.DebugContext(r.Context(), "a client registered", "name", m.Name, "redirect_uris", m.RedirectURIs)
	oauthserver.WriteJSON(w, http.StatusCreated, m)
}

// checkRegistration checks what the gateway demands besides RFC 7591.
func (g *generation) checkRegistration(m *oauthserver.ClientMetadata) *oauthserver.Error {
	bytes := 0
	for _, uri := range m.RedirectURIs {
		bytes += len(uri)
		if reason := g.checkTarget(uri); reason != "" {
			return oauthserver.NewError(oauthserver.InvalidRedirectURI, "redirect URI '%s' %s", uri, reason)
		}
	}
	if bytes > maxRedirectURIs {
		return oauthserver.NewError(oauthserver.InvalidRedirectURI, "the redirect_uris have %d bytes together, more than %d", bytes, maxRedirectURIs)
	}
	return nil
}

// documents fetches and keeps client ID metadata documents. It is safe for concurrent use.
type documents struct {
	client   *http.Client
	now      func() time.Time
	fetching chan struct{}

	mu   sync.Mutex
	kept map[string]document // by client ID
}

type document struct {
	*oauthserver.ClientMetadata
	until time.Time
}

func newDocuments(c *http.Client, now func() time.Time) *documents {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // draft section 4
	own.Timeout = documentTime
	return &documents{client: &own, now: now, fetching: make(chan struct{}, maxFetches), kept: map[string]document{}}
}

// get returns the metadata of a client ID.
func (d *documents) get(ctx context.Context, id string, l *limits) (*oauthserver.ClientMetadata, *oauthserver.Error) {
	d.mu.Lock()
	known, ok := d.kept[id]
	d.mu.Unlock()
	if ok && d.now().Before(known.until) {
		return known.ClientMetadata, nil
	}
	if !l.allowFetch(ctx) {
		return nil, &oauthserver.Error{Status: http.StatusServiceUnavailable, Code: temporarilyUnavailable, Description: "too many metadata documents of clients are fetched; try again"}
	}
	select {
	case d.fetching <- struct{}{}:
		defer func() { <-d.fetching }()
	case <-ctx.Done():
		return nil, &oauthserver.Error{Status: http.StatusServiceUnavailable, Code: temporarilyUnavailable, Description: "the request was cancelled"}
	}
	m, p := oauthserver.FetchClientMetadata(ctx, d.client, id, maxDocument)
	if p != nil {
		return nil, p
	}
	m.Name, m.Scope = text.TruncateRunes(oauthserver.Printable(m.Name), maxName), "" // neither is needed whole
	d.keep(id, document{m, d.now().Add(documentLifetime)})
	return m, nil
}

// keep stores a document. If there are too many, it forgets the one that would expire first.
func (d *documents) keep(id string, m document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.kept) >= maxDocuments {
		first := ""
		for other, kept := range d.kept {
			if first == "" || kept.until.Before(d.kept[first].until) {
				first = other
			}
		}
		delete(d.kept, first)
	}
	d.kept[id] = m
}
