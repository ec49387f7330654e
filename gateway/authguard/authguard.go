package authguard

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// Settings are the settings of a token guard, see [SettingsOf]. A reload that leaves them unchanged keeps the guard, with its keys
// and its cache of verified tokens.
type Settings struct {
	auth       config.Auth
	authority  [][]byte // contents of the ca_file of each issuer
	keepClaims bool
	// keepToken is true if an API exchanges the caller's token for another.
	keepToken bool
	endpoints []auth.Endpoint // Resource holds the endpoint name
	badTokens config.Rate     // rate limit per client address for invalid tokens
	resources []string        // resource identifiers of /mcp
	shared    bool            // a token for one of them is accepted at all
	groups    []auth.Group    // principals with a rate limit of their own
	nonceKeys [][]byte        // keys of DPoP nonces; nil if DPoP needs no nonce
}

// Equal reports whether both are settings of the same guard; no guard has equal settings.
func (s *Settings) Equal(other *Settings) bool {
	return s != nil && other != nil && reflect.DeepEqual(s, other)
}

// SettingsOf returns the settings of the guard of a configuration; nil if it has no guard.
func SettingsOf(c *config.Config, keys [][]byte) (*Settings, error) {
	if c.Auth == nil || c.Auth.Anonymous {
		return nil, nil
	}
	s := &Settings{auth: *c.Auth, badTokens: c.Limits.AddressRate, resources: c.Resources(), shared: c.SharesAudience(), groups: admission.PrincipalGroups(c)}
	if c.Auth.DPoPNonce {
		s.nonceKeys = nonceKeys(keys)
	}
	var errs []error
	for n, is := range c.Auth.Issuers {
		var pem []byte
		if is.CAFile != "" {
			var err error
			if pem, err = os.ReadFile(is.CAFile.String()); err != nil {
				errs = append(errs, c.Wrong(fmt.Sprintf("auth.issuers[%d].ca_file", n), err))
			}
		}
		s.authority = append(s.authority, pem)
	}
	s.keepClaims = c.UsesClaims()
	s.keepToken = slices.ContainsFunc(c.APIs, func(api config.API) bool { return api.Exchanges() })
	for _, e := range c.Endpoints {
		s.endpoints = append(s.endpoints, auth.Endpoint{Resource: e.Name, DefaultScopes: e.DefaultScopes})
	}
	return s, errors.Join(errs...)
}

// authorityOf returns the contents of the ca_file of an issuer. ok reports whether the issuer is configured.
func (s *Settings) authorityOf(issuer string) (pem []byte, ok bool) {
	for n, is := range s.auth.Issuers {
		if slices.Contains(is.Identifiers(), issuer) {
			return s.authority[n], true
		}
	}
	return nil, false
}

// Builder makes token guards.
type Builder struct {
	Clients  *clientip.Resolver
	Replays  auth.ReplayCache  // used DPoP proofs
	Tracer   *telemetry.Tracer // nil if tracing is off
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
	OnReject func(r *http.Request, reason string, status int) // records a rejected token
	Panicked func(what string, v any)
	// StateDir is server.state_dir, where keys of issuers are kept; "" if they are not kept. Recover runs a step in a goroutine of
	// its own, and reports whether it panicked.
	StateDir string
	Recover  func(what string, step func()) (panicked bool)
}

// Previous is the guard that a new one replaces, with its settings; zero if there is none.
type Previous struct {
	Guard    *auth.Guard
	Settings *Settings
}

// Build makes the guard of a configuration. It takes over the keys that the previous guard got from the same issuers
// through the same certificate authorities.
func (b *Builder) Build(c *config.Config, s *Settings, previous Previous) (*auth.Guard, error) {
	o := auth.Options{
		Resource: s.resources[0], Alternates: s.resources[1:], SharedAudience: s.shared, DefaultScopes: s.auth.DefaultScopes, AllowUnscoped: s.auth.AllowUnscoped,
		Implies: s.auth.Implies, KeepClaims: s.keepClaims, KeepToken: s.keepToken, Groups: s.groups, ClientAddress: b.Clients.Attributed, Replays: b.Replays, Logger: b.Log,
		OnReject: b.OnReject, NonceKeys: s.nonceKeys,
	}
	if b.Tracer != nil {
		o.OnCheck = func(r *http.Request, c auth.Check) { b.Tracer.Checked(r, c, &inbound.From(r.Context()).Check) }
	}
	for _, e := range s.endpoints {
		identifiers := c.EndpointResources(e.Resource)
		e.Resource, e.Alternates = identifiers[0], identifiers[1:]
		o.Endpoints = append(o.Endpoints, e)
	}
	if r := &s.badTokens; r.On() {
		o.BadTokens = &auth.BadTokens{Burst: r.AtOnce(), Interval: r.Rate.Interval(), Address: b.Clients.Limited,
			OnReject: func(*http.Request) { b.Metrics.Refused[telemetry.RefusedBadTokens].Inc() }}
	}
	var hosts []string
	for n, is := range s.auth.Issuers {
		issuer, err := issuerOf(is, s.authority[n], b.Panicked)
		if err != nil {
			return nil, c.Wrong(fmt.Sprintf("auth.issuers[%d].ca_file", n), err)
		}
		if slices.Equal(is.Audiences, s.resources) {
			issuer.Audiences = nil // each endpoint has its own
		}
		hosts = append(hosts, issuerHosts(is)...)
		for d, identifier := range is.Identifiers() {
			issuer.URL = identifier
			if len(is.Directories) > 0 {
				issuer.Directory = string(is.Directories[d])
			}
			if previous.Guard != nil {
				if authority, ok := previous.Settings.authorityOf(issuer.URL); ok && bytes.Equal(authority, s.authority[n]) {
					issuer.Previous = previous.Guard
				}
			}
			if b.StateDir != "" {
				issuer.Store = b.keyFileOf(issuer.URL, s.authority[n])
			}
			o.Issuers = append(o.Issuers, issuer)
		}
	}
	for i := range s.auth.Keys {
		o.APIKeys = append(o.APIKeys, apiKeyOf(&s.auth.Keys[i]))
	}
	o.AuthorizationServers = authorizationServers(c)
	o.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{Name: "issuers", NamedHosts: hosts, OnPanic: b.Panicked})).Documents()
	return auth.New(o)
}

// authorizationServers returns those at which clients log in, with the gateway instead of the provider in front of which it registers
// them; nil if they are the issuers.
func authorizationServers(c *config.Config) (servers []string) {
	provider := c.Auth.Provider()
	if provider == nil {
		return nil
	}
	for i := range c.Auth.Issuers {
		if is := &c.Auth.Issuers[i]; is == provider {
			servers = append(servers, c.PublicURLs()[0])
		} else {
			servers = append(servers, is.Issuer.String())
		}
	}
	return servers
}

// nonceKeys derives the keys of DPoP nonces from those that seal handles, so that replicas that share the latter share
// the former.
func nonceKeys(sealKeys [][]byte) [][]byte {
	var keys [][]byte
	for _, key := range sealKeys {
		h := hmac.New(sha256.New, key)
		h.Write([]byte("drawbridge DPoP nonce"))
		keys = append(keys, h.Sum(nil))
	}
	return keys
}
