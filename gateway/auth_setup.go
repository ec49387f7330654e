package gateway

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/source"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/egress"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// guardSettings are the settings of a token guard. A reload that leaves them unchanged keeps the guard, with its keys
// and its cache of verified tokens.
type guardSettings struct {
	auth       config.Auth
	authority  [][]byte // contents of the ca_file of each issuer
	keepClaims bool
	// keepToken is true if an API exchanges the caller's token for another.
	keepToken bool
	endpoints []auth.Endpoint // Resource holds the endpoint name
	badTokens config.Rate     // rate limit per client address for invalid tokens
	resource  string          // resource identifier of /mcp
	groups    []auth.Group    // principals with a rate limit of their own
	nonceKeys [][]byte        // keys of DPoP nonces; nil if DPoP needs no nonce
}

func (s *guardSettings) equal(other *guardSettings) bool {
	return s != nil && other != nil && reflect.DeepEqual(s, other)
}

// guardSettingsOf returns the settings of the guard of a configuration; nil if it has no guard.
func guardSettingsOf(c *config.Config, keys [][]byte) (*guardSettings, error) {
	if c.Auth == nil || c.Auth.Anonymous {
		return nil, nil
	}
	s := &guardSettings{auth: *c.Auth, badTokens: c.Limits.AddressRate, resource: c.Resource(), groups: admission.PrincipalGroups(c)}
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
func (s *guardSettings) authorityOf(issuer string) (pem []byte, ok bool) {
	for n, is := range s.auth.Issuers {
		if is.Issuer.String() == issuer {
			return s.authority[n], true
		}
	}
	return nil, false
}

// newGuard makes the guard of a configuration. It takes over the keys that the guard of the old deployment got from the
// same issuers through the same certificate authorities. old may be nil.
func (g *Gateway) newGuard(c *config.Config, s *guardSettings, old *deployment) (*auth.Guard, error) {
	o := auth.Options{
		Resource: s.resource, DefaultScopes: s.auth.DefaultScopes, AllowUnscoped: s.auth.AllowUnscoped,
		Implies: s.auth.Implies, KeepClaims: s.keepClaims, KeepToken: s.keepToken, Groups: s.groups, ClientAddress: g.clients.Address, Replays: g.shared.replays, Logger: g.log,
		OnReject: g.server.RefuseToken,
	}
	if g.tracer != nil {
		o.OnCheck = func(r *http.Request, c auth.Check) { g.tracer.Checked(r, c, call.PendingCheckOf(r.Context())) }
	}
	for _, e := range s.endpoints {
		e.Resource = c.EndpointResource(e.Resource)
		o.Endpoints = append(o.Endpoints, e)
	}
	if r := &s.badTokens; r.On() {
		o.BadTokens = &auth.BadTokens{Burst: r.AtOnce(), Interval: r.Rate.Interval(), Address: g.clients.Limited,
			OnReject: func(*http.Request) { g.metrics.Refused[telemetry.RefusedBadTokens].Inc() }}
	}
	o.NonceKeys = s.nonceKeys
	var hosts []string
	for n, is := range s.auth.Issuers {
		issuer, err := guardIssuer(is, s.authority[n], g.panicked)
		if err != nil {
			return nil, c.Wrong(fmt.Sprintf("auth.issuers[%d].ca_file", n), err)
		}
		if slices.Equal(is.Audiences, []string{c.Resource()}) {
			issuer.Audiences = nil // each endpoint has its own
		}
		if old != nil && old.guard != nil {
			if authority, ok := old.settings.authorityOf(issuer.URL); ok && bytes.Equal(authority, s.authority[n]) {
				issuer.Previous = old.guard
			}
		}
		hosts = append(hosts, issuerHosts(is)...)
		o.Issuers = append(o.Issuers, issuer)
	}
	o.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{Name: "issuers", NamedHosts: hosts, OnPanic: g.panicked})).Documents()
	return auth.New(o)
}

// guardIssuer converts an issuer of the configuration, completed by its preset.
func guardIssuer(is config.Issuer, authority []byte, panicked func(what string, v any)) (auth.Issuer, error) {
	issuer := auth.Issuer{
		URL: is.Issuer.String(), Audiences: is.Audiences, ClientIDs: is.ClientIDs, RequireClient: is.RequireClient,
		ScopeClaims: is.ScopeClaims, MaxLifetime: time.Duration(is.MaxLifetime), Skew: time.Duration(is.Skew),
	}
	if is.Opaque() {
		issuer.Tokens = auth.Opaque
	}
	for _, a := range is.Algorithms {
		issuer.Algorithms = append(issuer.Algorithms, string(a))
	}
	for _, claim := range is.IDTokenClaims {
		issuer.IDTokenClaims = append(issuer.IDTokenClaims, string(claim))
	}
	for _, typ := range is.AcceptTyp {
		if typ == "none" { // the token has no "typ" header
			typ = ""
		}
		issuer.Types = append(issuer.Types, typ)
	}
	if issuer.Skew == 0 { // 0 would select the default of auth
		issuer.Skew = time.Nanosecond
	}
	switch is.DPoP {
	case config.DPoPAccept:
		issuer.DPoP = auth.DPoPAccept
	case config.DPoPRequire:
		issuer.DPoP = auth.DPoPRequire
	case config.DPoPOff:
	}
	if in := is.Introspection; in != nil {
		issuer.Introspection = &auth.Introspection{ClientID: in.ClientID, Rate: in.Rate}
		if in.Endpoint != nil {
			issuer.Introspection.Endpoint = in.Endpoint.String()
		}
		if in.ClientID != "" {
			issuer.Introspection.ClientSecret = func() (string, error) { return in.ClientSecret.Reveal(), nil }
		}
		if in.ClientAuth == config.IntrospectionPost {
			issuer.Introspection.Method = auth.ClientSecretPost
		}
	}
	if is.Preset != "" {
		preset, ok := auth.Preset(string(is.Preset))
		if !ok { // a test keeps the two lists equal
			return issuer, fmt.Errorf("no preset is named %q", is.Preset)
		}
		if is.Tokens == config.TokensJWT {
			preset.Tokens, preset.Introspection = auth.JWT, nil
		}
		issuer = issuer.WithDefaults(preset)
	}
	var roots *x509.CertPool
	if authority != nil {
		if roots = x509.NewCertPool(); !roots.AppendCertsFromPEM(authority) {
			return issuer, fmt.Errorf("%q holds no PEM certificate", is.CAFile)
		}
	}
	if proxy := egress.Proxy(is.Proxy); roots != nil || proxy != nil {
		issuer.Client = upstream.NewClient(source.WithDefaultLimits(upstream.Options{
			Name: "issuer", NamedHosts: issuerHosts(is), RootCAs: roots, Proxy: proxy, OnPanic: panicked,
		})).Documents()
	}
	return issuer, nil
}

// issuerHosts returns the hosts of an issuer that the operator has configured: they may be on private addresses (E1).
func issuerHosts(is config.Issuer) []string {
	hosts := []string{is.Issuer.URL().Hostname()}
	if in := is.Introspection; in != nil && in.Endpoint != nil {
		hosts = append(hosts, in.Endpoint.URL().Hostname())
	}
	return hosts
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

// conditionsOf compiles the conditions of all rules, keyed by their text.
func conditionsOf(c *config.Config) (map[string]*auth.Condition, error) {
	conditions := map[string]*auth.Condition{}
	var errs []error
	for n := range c.Rules {
		text := c.Rules[n].Set.Condition
		if text == "" || conditions[text] != nil {
			continue
		}
		condition, err := auth.NewCondition(text)
		if err != nil {
			for line := range strings.Lines(err.Error()) { // one line per error
				reason := strings.TrimPrefix(strings.TrimSpace(line), "condition: ")
				errs = append(errs, c.Wrong("rules["+strconv.Itoa(n)+"].set.condition", errors.New(reason)))
			}
			continue
		}
		conditions[text] = condition
	}
	return conditions, errors.Join(errs...)
}
