package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/fetch"
)

// source is one configured API: it loads the document, makes the clients for its service, and holds the outcome of the
// last attempts. The fields below "state" belong to the goroutine that publishes.
type source struct {
	g         *Gateway
	config    config.API
	label     string // name in logs before the document is known
	group     string // groups cached responses; unique among all sources, so that no other source reads them
	limits    config.Limits
	pem       []byte             // contents of ca_file
	roots     *x509.CertPool     // pem, parsed; nil for those of the system
	documents *upstream.Client   // fetches the document; nil for a file
	refs      *upstream.Client   // fetches from the origins of allow_refs, without a credential; nil if there are none
	asked     atomic.Int64       // number of the last reload that asked for a load; the next update answers it
	poke      chan struct{}      // requests an immediate load; its capacity is 1
	looks     chan struct{}      // semaphore for polls of subscribed resources
	cancel    context.CancelFunc // ends the goroutine of run; nil before it was started
	calls     callClients
	attached  *attached
	identity  *credential.Identity // signs the caller's identity; nil if the API does not ask for it
	secrets   *redact.Configured

	// storeID identifies the document in the last-known-good store; "" if it is not stored.
	storeID string
	// restricted reports whether the configuration has restrictions, which a newer document must not undo.
	restricted bool
	// adopted reports whether the source took over the document of an earlier source.
	adopted bool
	// pace paces the work on this document, so that calls are not held up.
	pace *openapi.Pace
	// anew makes the next load read the document even if it is unchanged, so that its text can be stored.
	anew atomic.Bool
	// large reports whether the document exceeds smallText.
	large atomic.Bool
	// leaving reports whether the reload that is under way ends the source.
	leaving atomic.Bool

	// state
	name   string // from the configuration, else from the title of the document; unique in its deployment
	loaded *loaded
	held   *held // newer document in quarantine; nil if there is none
	// accepting holds operators' acceptances of the quarantined document until it has been reread.
	accepting []acceptance
	// confirmed is the last time at which the document in use was known to be current.
	confirmed time.Time
	// unconfirmed is true while the document in use is the stored one and the first attempt to load a newer one is
	// under way.
	unconfirmed bool
	err         error // of the last attempt
	tried       bool  // at least one attempt has ended
	answered    int64 // number of the reload that the last attempt answered
	nextTry     time.Time
}

// Label returns the name of the source for operators, before and after its document is read.
func (s *source) Label() string { return s.label }

// Leaving reports whether the reload that is under way ends the source.
func (s *source) Leaving() bool { return s.leaving.Load() }

// countDocuments updates the memory budget of compiled documents. Only the runner calls it.
func (s *source) countDocuments() {
	var all []*openapi.API
	if s.loaded != nil {
		all = append(all, s.loaded.api)
	}
	if s.held != nil && s.held.update != nil {
		all = append(all, s.held.update.loaded.api)
	}
	s.g.admission.documents.Set(s, all...)
}

// argumentsDepth is the JSON nesting depth of a call's arguments: they are inside the message and its params.
const argumentsDepth = 2

// loaded is the result of loading a document. It is immutable.
type loaded struct {
	title, version, standard string
	stamp                    fetch.Stamp // digest and files, to recognize an unchanged document
	api                      *openapi.API
	advice                   []openapi.Problem // deviations from the OpenAPI standard, if Options.Advise is set
	client                   *upstream.Client  // for calls
	choices                  *choices
	extended                 *extended
	at                       time.Time // when the document was read
	kept                     bool      // restored from the last-known-good store
}

func (g *Gateway) newSource(c config.API, limits config.Limits, identity *credential.Identity, wrong func(key string, err error) error) (*source, error) {
	s := &source{g: g, config: c, limits: limits, label: c.Name, pace: g.admission.pace.Part(), poke: make(chan struct{}, 1), looks: newLookPlaces(c.MaxInFlight)}
	if s.label == "" {
		s.label = nameFromLocation(c.Spec.String())
	}
	s.name = s.label
	if c.Identity != nil {
		s.identity = identity
	}
	s.secrets = redact.NewConfigured(c.Spec.String(), credentialsOf(c)...)
	var err error
	if s.pem, s.roots, err = rootsOf(c.CAFile); err != nil {
		return nil, wrong("ca_file", err)
	}
	if s.group = rand.Text(); g.shared != nil && g.shared.answers != nil {
		s.group = config.Fingerprint(c, limits, s.pem) // equal on all replicas that share the cache
	}
	// A credential that can't work is rejected here, before anything is served (Z8).
	if s.attached, err = g.newAttached(c, limits, s.identity, wrong); err != nil {
		return nil, err
	}
	if c.Spec.IsURL() {
		if _, err := url.Parse(c.Spec.String()); err != nil {
			return nil, wrong("spec", err)
		}
		s.documents = s.documentClient(s.attached.document, s.attached.tls, hosts([]config.Origin{config.Origin(c.Spec)}))
	}
	if len(c.AllowRefs) > 0 {
		s.refs = s.documentClient(nil, nil, hosts(c.AllowRefs))
	}
	return s, nil
}

// rootsOf reads the trusted certificates. It returns nil for those of the system.
func rootsOf(file config.File) (pem []byte, roots *x509.CertPool, err error) {
	if file == "" {
		return nil, nil, nil
	}
	if pem, err = os.ReadFile(file.String()); err != nil {
		return nil, nil, err
	}
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, nil, fmt.Errorf("%q holds no PEM certificate", file)
	}
	return pem, roots, nil
}

// documentClient makes a client that fetches documents. Only hosts that the operator has configured for this purpose
// may be on private addresses (E1).
func (s *source) documentClient(wrap wrapper, tls connection, named []string) *upstream.Client {
	o := s.clientOptions(s.label, wrap, tls)
	o.BaseURL, o.NamedHosts = nil, named
	o.Timeout, o.MaxBytes = time.Duration(s.config.SpecTimeout), int64(s.limits.MaxSpec)
	return upstream.NewClient(o)
}

func (s *source) clientOptions(name string, wrap wrapper, tls connection) upstream.Options {
	l := s.limits
	o := upstream.Options{
		Name: name, NamedHosts: s.namedHosts(), Timeout: time.Duration(cmp.Or(s.config.Timeout, l.Timeout)), Connect: time.Duration(l.ConnectTimeout),
		TLSHandshake: time.Duration(l.TLSTimeout), FirstByte: time.Duration(l.FirstByteTimeout), MaxBytes: int64(s.config.MaxAnswer),
		MaxRatio: int64(l.MaxRatio), RootCAs: s.roots, Wrap: wrap, TLS: tls, TracerProvider: s.g.o.TracerProvider,
		AllowedAddresses: prefixes(s.config.AllowAddresses), ConnectionAge: time.Duration(l.ConnectionAge), UserAgent: "drawbridge/" + s.g.o.Version,
		OnPanic:         s.g.panicked,
		OnUnknownCoding: func() { s.g.metrics.IgnoredEncoding(name) },
	}
	if s.config.BaseURL != nil {
		o.BaseURL = s.config.BaseURL.URL()
	}
	return o
}

// namedHosts returns the hosts that the operator has configured. The client knows that of base_url by itself.
func (s *source) namedHosts() []string {
	return hosts(append([]config.Origin{config.Origin(s.config.Spec)}, s.config.AllowServers...))
}

func hosts(origins []config.Origin) []string {
	var hosts []string
	for _, text := range origins {
		if u, err := url.Parse(text.String()); err == nil && u.Host != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

func prefixes(networks []config.Network) []netip.Prefix {
	var out []netip.Prefix
	for _, n := range networks {
		out = append(out, n.Prefix())
	}
	return out
}

// adopt takes over the last-known-good document of a source with the same location, in case the first attempt fails.
// Calls follow the new configuration: its credential, its limits, its base URL.
func (s *source) adopt(old *source) {
	if old == nil || old.loaded == nil {
		return
	}
	l := old.loaded
	own := *l
	own.client = s.callClient(s.nameFor(l.title), l.api)
	own.choices = s.choose(l.api)
	s.loaded, s.adopted, s.confirmed = &own, true, old.confirmed
}

// callClients keeps the client for calls across loads, so that its connections survive.
type callClients struct {
	mu     sync.Mutex
	key    string // name and hosts that client was made for
	client *upstream.Client
}

// callClient returns the client for the servers of the operations. If base_url is not configured, the servers in the
// document have already passed the rules of S7.
func (s *source) callClient(name string, api *openapi.API) *upstream.Client {
	var hosts []string
	for _, op := range api.Operations {
		if base := s.base(op); base != nil && !slices.Contains(hosts, base.Hostname()) {
			hosts = append(hosts, base.Hostname())
		}
	}
	key := name + " " + strings.Join(hosts, " ")
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	if s.calls.client != nil && s.calls.key == key {
		return s.calls.client
	}
	if s.calls.client != nil {
		s.calls.client.Close() // running calls finish on it; idle connections are closed
	}
	o := s.clientOptions(name, s.attached.calls, s.attached.tls)
	o.DocumentHosts = hosts
	s.protect(&o)
	s.calls.key, s.calls.client = key, upstream.NewClient(o)
	return s.calls.client
}

// close closes the idle connections.
func (s *source) close() {
	for _, c := range []*upstream.Client{s.documents, s.refs} {
		if c != nil {
			c.Close()
		}
	}
	s.attached.close()
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	if s.calls.client != nil {
		s.calls.client.Close()
	}
}

// status returns the state of the API for operators.
func (s *source) status() admin.API {
	a := admin.API{Name: s.name, Spec: redact.Location(s.config.Spec.String()), State: admin.Loading}
	switch {
	case s.held != nil:
		a.State = admin.Held
	case s.loaded != nil && s.err == nil && !s.unconfirmed:
		a.State = admin.Ready
	case s.loaded != nil:
		a.State = admin.Stale
	case s.tried:
		a.State = admin.Failed
	}
	if l := s.loaded; l != nil {
		a.Title, a.Version, a.Standard, a.LoadedAt, a.MemoryBytes = l.title, l.version, l.standard, &l.at, l.api.Size
	}
	if s.err != nil {
		a.Error = s.err.Error()
	}
	a.Held = s.held.describe(s)
	if a.State == admin.Stale {
		since := s.confirmed
		a.StaleSince = &since
	}
	if !s.nextTry.IsZero() {
		next := s.nextTry
		a.NextTryAt = &next
	}
	return a
}
