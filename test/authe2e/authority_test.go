package authe2e

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"math"
	"net/http"
	"time"

	"drawbridge/auth/authtest"
)

// authority is an authorization server under test.
type authority interface {
	issuer() string
	// rotate makes a new key sign. The old ones stay published, unless they are retired.
	rotate(ctx context.Context, retire bool) error
	// down makes it answer nobody, or everybody again.
	down(ctx context.Context, down bool) error
	// keySets counts the requests for the key set.
	keySets(ctx context.Context) (int, error)
	close() error
}

// terms are what an authorization server is to do.
type terms struct {
	resource string
	life     time.Duration // of access tokens
	opaque   bool
	secret   string // with which the client "gateway" asks about tokens
	callback string // redirect URI of that client, if it has one; {host} stands for the host of the issuer
	// registers lets others register beside a client that has a callback.
	registers bool
}

// scopes that can be granted, each with more rights than the one before.
var scopes = []string{"orders:read", "orders:write", "orders:admin"}

// foreign is an issuer of oidc-provider.
type foreign struct {
	peer *peer
	name string
}

func startForeign(ctx context.Context, p *peer, want terms) (*foreign, error) {
	var got struct{ Issuer string }
	err := p.do(ctx, "start", map[string]any{
		"resource": want.resource, "scopes": scopes, "life": math.Round(want.life.Seconds()), "opaque": want.opaque, "secret": want.secret, "callback": want.callback,
		"registers": want.registers || want.callback == "",
	}, &got)
	return &foreign{p, got.Issuer}, err
}

func (f *foreign) issuer() string { return f.name }
func (f *foreign) close() error   { return nil } // with its process

func (f *foreign) rotate(ctx context.Context, retire bool) error {
	return f.peer.do(ctx, "rotate", map[string]any{"issuer": f.name, "retire": retire}, nil)
}

func (f *foreign) keySets(ctx context.Context) (n int, err error) {
	err = f.peer.do(ctx, "keySets", map[string]any{"issuer": f.name}, &n)
	return n, err
}

func (f *foreign) down(ctx context.Context, down bool) error {
	return f.peer.do(ctx, "down", map[string]any{"issuer": f.name, "down": down}, nil)
}

// entraPrefix is the application ID URI of the gateway at a provider that behaves as Entra ID does.
const entraPrefix = "api://gateway/"

// own is the authorization server of the demo.
type own struct{ server *authtest.Server }

func startOwn(want terms, roots *x509.CertPool) (*own, error) {
	o := authtest.Options{
		Resources: []string{want.resource}, AccessLife: want.life, OpaqueTokens: want.opaque, RootCAs: roots,
		Clients: []authtest.Client{{ID: "gateway", Secret: want.secret}},
	}
	if want.callback != "" {
		o.EntraID, o.AutoConsent, o.Resources, o.DefaultResource = true, true, nil, want.resource
		o.Clients[0].RedirectURIs = []string{want.callback}
	}
	for _, name := range scopes {
		if want.callback != "" {
			name = entraPrefix + name
		}
		o.Scopes = append(o.Scopes, authtest.Scope{Name: name})
	}
	s, err := authtest.Start(o)
	return &own{s}, err
}

func (o *own) issuer() string                       { return o.server.Issuer() }
func (o *own) keySets(context.Context) (int, error) { return o.server.Requests(authtest.KeySet), nil }
func (o *own) close() error                         { return o.server.Close() }

func (o *own) rotate(_ context.Context, retire bool) error {
	err := o.server.RotateKeys()
	if retire {
		o.server.DropOldKeys()
	}
	return err
}

func (o *own) down(_ context.Context, down bool) error {
	var f *authtest.Failure
	if down {
		f = &authtest.Failure{Status: http.StatusBadGateway}
	}
	for _, e := range []authtest.Endpoint{authtest.Metadata, authtest.KeySet, authtest.Authorization, authtest.TokenEndpoint, authtest.Introspection} {
		o.server.Fail(e, f)
	}
	return nil
}

func newSecret() string { return rand.Text() }
