package account

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/relyingparty"
	"drawbridge/config"
	"drawbridge/gateway/state"
)

// Records keep accounts by their names. [state.SharedRecords] and [Files] are some. They are safe for concurrent use.
type Records interface {
	// Put keeps a value until a time, and replaces an earlier one.
	Put(ctx context.Context, name, owner string, value []byte, until time.Time) error
	// Get returns the value of a name; false if there is none. An error means that the answer is unknown.
	Get(ctx context.Context, name string) (value []byte, ok bool, err error)
	// Latest is Get for a value that must not be an old one.
	Latest(ctx context.Context, name string) (value []byte, ok bool, err error)
	// Each calls f with each value.
	Each(ctx context.Context, f func(value []byte)) error
}

// Options are the parameters of [New].
type Options struct {
	Records Records
	// Locks let one replica refresh the tokens of an account.
	Locks state.Locks
	// Spent remembers links that were used.
	Spent state.Once
	// Sealer seals accounts, links, and what browsers keep of logins. Replicas share its keys.
	Sealer relyingparty.Sealer
	// Config returns the configuration in use.
	Config func() *config.Config
	// Provider returns the client for requests to an issuer, with SSRF protection and a limit on responses.
	Provider func(*config.Issuer) (*http.Client, error)
	// Services returns the services of the configuration in use.
	Services func() []*Service
	// Address returns the address that a request is charged to; false for none.
	Address func(*http.Request) (netip.Addr, bool)
	Log     *slog.Logger
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Accounts are the accounts of all callers at all services. They are safe for concurrent use.
type Accounts struct{ o Options }

// New returns the accounts that records have.
func New(o Options) *Accounts {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Accounts{o}
}

// load returns the account of a name; nil if there is none.
func (a *Accounts) load(ctx context.Context, name string) (*stored, error) {
	value, ok, err := a.o.Records.Get(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	return a.open(name, value), nil
}

// latest is load for what other replicas may have changed a moment ago.
func (a *Accounts) latest(ctx context.Context, name string) (*stored, error) {
	value, ok, err := a.o.Records.Latest(ctx, name)
	if err != nil || !ok {
		return nil, err
	}
	return a.open(name, value), nil
}

// open opens a value of the records; nil if it is no account: one that was sealed with other keys is asked for again.
func (a *Accounts) open(name string, value []byte) *stored {
	handle, ok := strings.CutPrefix(string(value), name)
	if !ok {
		return nil
	}
	text, err := a.o.Sealer.Open(handle, []byte("account\n"+name))
	s := &stored{}
	if err != nil || json.Unmarshal(text, s) != nil || s.Revoked || !a.o.Now().Before(s.Until) {
		return nil
	}
	return s
}

// save keeps an account. Its value begins with its name, which the records may not give back.
func (a *Accounts) save(ctx context.Context, name string, s *stored) error {
	s.Until = a.o.Now().Add(lifetime)
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return a.o.Records.Put(ctx, name, s.Issuer+"|"+s.Subject, []byte(name+a.o.Sealer.Seal(text, []byte("account\n"+name))), s.Until)
}

// remove removes an account. A replica that still has it would bring it back, so its name has a value that stands for none.
func (a *Accounts) remove(ctx context.Context, name string, s *stored) error {
	return a.save(ctx, name, &stored{Account: Account{Issuer: s.Issuer, Subject: s.Subject}, Revoked: true})
}

// List returns all accounts, ordered by API, scheme, server, issuer and subject.
func (a *Accounts) List(ctx context.Context) ([]Account, error) {
	var all []Account
	err := a.each(ctx, func(s *stored) { all = append(all, s.Account) })
	slices.SortFunc(all, func(x, y Account) int {
		return slices.Compare([]string{x.API, x.Scheme, x.Server, x.Issuer, x.Subject, x.ID}, []string{y.API, y.Scheme, y.Server, y.Issuer, y.Subject, y.ID})
	})
	return all, err
}

// each calls f with each account.
func (a *Accounts) each(ctx context.Context, f func(*stored)) error {
	return a.o.Records.Each(ctx, func(value []byte) {
		if len(value) < nameLength {
			return
		}
		name := string(value[:nameLength])
		if s := a.open(name, value); s != nil {
			s.ID = name[:idLength]
			f(s)
		}
	})
}

const (
	nameLength = 64 // of the names of accounts
	idLength   = 16 // of [Account].ID
)

// Revocation is the outcome of the revocation of an account.
type Revocation struct {
	Account Account
	// AtService reports whether the service has revoked the tokens, too. Err is why it has not; nil if the credential has no revoke_url.
	AtService bool
	Err       error
}

// Revoke removes the accounts that match selects, here and at their services. The caller is asked to log in at the service with the next
// call. The error is that of the records; the accounts before it are revoked.
func (a *Accounts) Revoke(ctx context.Context, match func(*Account) bool) (done []Revocation, err error) {
	var selected []*stored
	if err := a.each(ctx, func(s *stored) {
		if match(&s.Account) {
			selected = append(selected, s)
		}
	}); err != nil {
		return nil, err
	}
	for _, s := range selected {
		if err := a.remove(ctx, nameOf(s.Service, s.Issuer, s.Subject), s); err != nil {
			return done, err
		}
		r := Revocation{Account: s.Account}
		if service := a.service(s.Service); service != nil && service.credential.RevokeURL.String() != "" {
			r.Err = service.revoke(ctx, s)
			r.AtService = r.Err == nil
		}
		done = append(done, r)
	}
	return done, nil
}

// service returns the service of the configuration in use with an id; nil if there is none.
func (a *Accounts) service(id string) *Service {
	for _, s := range a.o.Services() {
		if s.id == id {
			return s
		}
	}
	return nil
}

// publicURL returns the URL of the gateway at which browsers reach it.
func (a *Accounts) publicURL() string {
	if urls := a.o.Config().PublicURLs(); len(urls) > 0 {
		return strings.TrimSuffix(urls[0], "/")
	}
	return ""
}

// issuer returns the issuer of a caller at which the gateway can log users in; nil if there is none.
func (a *Accounts) issuer(name string) *config.Issuer {
	c := a.o.Config()
	if c.Auth == nil {
		return nil
	}
	for i := range c.Auth.Issuers {
		if is := &c.Auth.Issuers[i]; is.Login != nil && slices.Contains(is.Identifiers(), name) {
			return is
		}
	}
	return nil
}
