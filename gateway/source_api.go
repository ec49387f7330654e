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

// source is one configured API: how its document is read and its service called, and the outcome of the last
// attempts. The fields below "state" belong to the goroutine that publishes.
type source struct {
	g         *Gateway
	config    config.API
	label     string // its name in logs before its document is known
	group     string // names it among all sources that there ever were: what is kept of its answers is no other's
	limits    config.Limits
	pem       []byte // of ca_file
	roots     *x509.CertPool
	documents *upstream.Client   // fetches the document; nil for a file
	refs      *upstream.Client   // fetches from the origins of allow_refs, without a credential; nil: there are none
	asked     atomic.Int64       // the turn that its next update answers
	poke      chan struct{}      // one place: look at the document now
	looks     chan struct{}      // a place for each watch that looks at it now
	cancel    context.CancelFunc // ends its goroutine; nil before it was started
	calls     callClients
	attached  *attached
	identity  *credential.Identity // that of its deployment, if it tells its service who calls; else nil
	secrets   *redact.Configured

	// storeID is the id of its document on disk; "" if none is kept there.
	storeID string
	// restricted tells that the configuration has restrictions, which a newer document must not undo.
	restricted bool
	// adopted tells that it began with a document of a source before it.
	adopted bool
	// pace is that of the work on this document.
	pace *openapi.Pace
	// anew has the document read although it is the one in use, to be kept.
	anew atomic.Bool
	// large tells that the document was larger than smallText.
	large atomic.Bool
	// leaving tells that the source ends with the reload that is under way.
	leaving atomic.Bool

	// state
	name   string // from the configuration, else from the document's title, made unique in its deployment
	loaded *loaded
	held   *held // nil: no newer document is held back
	// accepting are the words of operators on what is held, while that is read anew.
	accepting []acceptance
	// confirmed is when the document in use was the newest for the last time, as far as is known.
	confirmed time.Time
	// unconfirmed tells that the document in use comes from the disk, and the first attempt to read it has not ended.
	unconfirmed bool
	err         error // of the last attempt
	tried       bool
	answered    int64 // the turn of the last attempt
	nextTry     time.Time
}

// Label names the source to operators, before and after its document is read.
func (s *source) Label() string { return s.label }

// Leaving tells that the source ends with the reload that is under way.
func (s *source) Leaving() bool { return s.leaving.Load() }

// countDocuments counts what the source has in the memory of compiled documents. Only the runner calls it.
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

// argumentsDepth is how deep the arguments of a call stand in a client's request: within the message and its params.
const argumentsDepth = 2

// loaded is what one good document gave. It is immutable.
type loaded struct {
	title, version, standard string
	stamp                    fetch.Stamp
	api                      *openapi.API
	advice                   []openapi.Problem
	client                   *upstream.Client
	choices                  *choices
	extended                 *extended
	at                       time.Time
	kept                     bool // it comes from the disk
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
		s.group = config.Fingerprint(c, limits, s.pem) // for other replicas, too
	}
	// A credential that can't work is found here, before anything is served (Z8).
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

// rootsOf reads the certificates that are trusted, as the file has them too; nil: the system's.
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

// documentClient makes a client that reads documents. Of the hosts only those may stand on private addresses that the
// operator named for this purpose (E1).
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

// namedHosts are the hosts that the operator wrote down; base_url is known to the client by itself.
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

// adopt takes over the last good document of the same place, which is better than none should the first attempt
// fail. Calls go out as the new configuration says: with its credential, its limits, to its base URL.
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

// callClients keeps the client of the calls from one load to the next, and with it its connections.
type callClients struct {
	mu     sync.Mutex
	key    string
	client *upstream.Client
}

// callClient returns the client for the operations' servers. Where the operator has named no base URL, what the
// document says of its server has already passed the rules of S7.
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
		s.calls.client.Close() // running calls end on it, idle connections go
	}
	o := s.clientOptions(name, s.attached.calls, s.attached.tls)
	o.DocumentHosts = hosts
	s.protect(&o)
	s.calls.key, s.calls.client = key, upstream.NewClient(o)
	return s.calls.client
}

// close drops the connections that are idle.
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

// status tells where the API stands.
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
