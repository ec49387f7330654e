package source

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
)

// Source is one configured API: it loads the document, makes the clients for its service, and holds the outcome of the
// last attempts. The fields below "state" belong to the goroutine that publishes.
type Source struct {
	// Config is the configuration of the API.
	Config config.API
	// Limits are those of the configuration.
	Limits config.Limits
	// Secrets holds the configured secrets of the API.
	Secrets *redact.Configured
	// CacheGroup groups cached responses. It is unique among all sources, so that no other source reads them.
	CacheGroup string
	// PollSlots is a semaphore for polls of subscribed resources, which leaves most of the API's concurrency to calls.
	PollSlots chan struct{}

	// AddsSecrets reports whether calls carry values that are in no configuration, such as tokens and identities.
	AddsSecrets bool
	// StoreID identifies the document in the last-known-good store; "" if it is not stored.
	StoreID string

	deps     *Deps
	owner    *budgetOwner
	clients  *clients
	loader   *loader
	choices  []*serverChoice
	server   *int                 // of those of [Source.Servers]; nil for the source itself
	selected []string             // values of the claims that select server
	identity *credential.Identity // signs the caller's identity; nil if the API does not require it
	// adopted reports whether the source took over the document of an earlier source.
	adopted bool

	requested atomic.Int64       // number of the last reload that requested a load; the next update answers it
	wake      chan struct{}      // requests an immediate load; its capacity is 1
	cancel    context.CancelFunc // ends the goroutine of run; nil before it was started
	rereads   chan struct{}      // a semaphore for Reread; its capacity is 1
	// rereadRequested makes the next load read the document even if it is unchanged, so that its text can be stored.
	rereadRequested atomic.Bool

	// state

	// Name is the configured name, or one from the title of the document. It is unique in its [Set].
	Name string
	// FormerName is the name that the previous release gave the API; "" if no name differs.
	FormerName string
	// Document is the document in use; nil if there is none.
	Document *Document
	// baseline is the document that an earlier source served, with which the first one is compared; nil if there is none.
	baseline *Document
	// former holds operations that have left the document, see [FormerOperation].
	former []FormerOperation
	// Quarantine holds a newer document that is not used; nil if there is none.
	Quarantine *Quarantined
	// Accepting holds acceptances of the quarantined document until it has been reread.
	Accepting []Acceptance
	// Err is the error of the last attempt.
	Err error
	// Tried reports whether at least one attempt has ended.
	Tried bool
	// confirmed is the last time at which the document in use was known to be current.
	confirmed time.Time
	// unconfirmed is true while the document in use is the stored one and the first attempt to load a newer one is
	// under way.
	unconfirmed bool
	answered    int64 // number of the reload that the last attempt answered
	nextTry     time.Time
}

// maxPolls is the maximum number of polls of one API at a time.
const maxPolls = 16

// newSource makes a source without a document.
func newSource(deps *Deps, o authOptions) (*Source, error) {
	c := o.api
	s := &Source{Config: c, Limits: o.limits, Secrets: redact.NewConfigured(locations(&c), credentialsOf(c)...).With(c.Request.Secrets()...), CacheGroup: rand.Text(),
		PollSlots: make(chan struct{}, min(max(1, c.MaxInFlight/4), maxPolls)), deps: deps, wake: make(chan struct{}, 1), rereads: make(chan struct{}, 1)}
	s.owner = &budgetOwner{label: cmp.Or(c.Name, nameFromLocation(c.Spec.String()))}
	s.Name = s.owner.label
	if c.Identity != nil {
		s.identity = o.identity
	}
	pem, roots, err := upstream.ReadRoots(c.CAFile.String(), c.Opener())
	if err != nil {
		return nil, o.wrong("ca_file", err)
	}
	if deps.SharedCache {
		s.CacheGroup = config.Fingerprint(c, o.limits, pem)
	}
	// A credential that can't work is rejected here, before anything is served (Z8).
	auth, err := newUpstreamAuth(o)
	if err != nil {
		return nil, err
	}
	s.AddsSecrets = auth.dynamic
	if s.choices, err = newServerChoices(deps, o, pem, roots, s.owner.label); err != nil {
		return nil, err
	}
	s.clients = &clients{deps: deps, api: &s.Config, limits: o.limits, label: s.owner.label, pem: pem, roots: roots, auth: auth}
	if err := s.clients.makeDocumentClients(); err != nil {
		return nil, o.wrong("spec", err)
	}
	s.loader = &loader{deps: deps, api: &s.Config, limits: o.limits, secrets: s.Secrets, clients: s.clients, choices: s.choices, owner: s.owner, pace: deps.Pace.Part()}
	return s, nil
}

// adopt takes over the last-known-good document of a source with the same location, in case the first attempt fails.
// Calls follow the new configuration: its credential, its limits, its base URL.
func (s *Source) adopt(old *Source) {
	if old == nil || old.Document == nil || !slices.EqualFunc(old.choices, s.choices, (*serverChoice).isSame) {
		return
	}
	own := *old.Document
	own.setClients(s.loader, s.NameFor(own.Title))
	s.Document, s.adopted, s.confirmed = &own, true, old.confirmed
}

// NameFor returns the name of the source for the title of its document.
func (s *Source) NameFor(title string) string { return nameFor(&s.Config, s.owner.label, title) }

// Context returns a context whose requests go to instances that serve the operation, if the API is a discovered
// service.
func (s *Source) Context(ctx context.Context, op *openapi.Operation) context.Context {
	if !s.Config.IsDiscovered() {
		return ctx
	}
	return upstream.WithOperation(ctx, op.Method+" "+op.Path)
}

// Account returns the service at which callers have accounts, for one of the API's credentials; nil if it is not of that type.
func (s *Source) Account(c *config.Credential) *account.Service { return s.clients.auth.accounts[c] }

// Accounts returns all services of the API at which callers have accounts. If claims select among servers, those are services of their own.
func (s *Source) Accounts() []*account.Service {
	if len(s.choices) == 0 {
		return slices.Collect(maps.Values(s.clients.auth.accounts))
	}
	var all []*account.Service
	for _, c := range s.choices {
		all = slices.AppendSeq(all, maps.Values(c.clients.auth.accounts))
	}
	return all
}

// CertificateExpiry returns the earliest expiry of the client certificates; zero if there is none.
// Those of servers that claims select among are the same.
func (s *Source) CertificateExpiry() time.Time { return s.clients.auth.expiry() }
