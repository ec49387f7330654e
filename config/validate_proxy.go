package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"drawbridge/openapi/origin"
)

// deriveProxies gives each place without a proxy of its own that of what it belongs to.
func (cfg *Config) deriveProxies() {
	inherit := func(own **Proxy, from *Proxy) {
		if *own == nil {
			*own = from
		}
	}
	ofCredentials := func(api *API, from *Proxy) {
		_, credentials := api.AllCredentials()
		for _, c := range credentials {
			if c.Type.IsOAuth() {
				inherit(&c.Proxy, from)
			}
		}
	}
	for i := range cfg.APIs {
		api := &cfg.APIs[i]
		inherit(&api.Proxy, cfg.Proxy)
		inherit(&api.SpecProxy, api.Proxy)
		ofCredentials(api, api.Proxy)
	}
	for i := range cfg.Discovery {
		d := &cfg.Discovery[i]
		shared := &d.API.api
		inherit(&shared.Proxy, cfg.Proxy)
		inherit(&shared.SpecProxy, shared.Proxy)
		_, sent := d.Settings()
		for j := range sent { // copies, with the same credentials
			ofCredentials(&sent[j], shared.Proxy)
		}
		if d.HTTP != nil {
			inherit(&d.HTTP.Proxy, cfg.Proxy)
		}
	}
	if cfg.Auth != nil {
		for i := range cfg.Auth.Issuers {
			inherit(&cfg.Auth.Issuers[i].Proxy, cfg.Proxy)
		}
	}
	if e := cfg.Embeddings(); e != nil {
		inherit(&e.Proxy, cfg.Proxy)
	}
	if o := cfg.Admin.Console.OIDC; o != nil {
		inherit(&o.Proxy, cfg.Proxy)
	}
	if cfg.Telemetry.OTLPEndpoint != nil {
		inherit(&cfg.Telemetry.Proxy, cfg.Proxy)
	}
}

// eachProxy visits the proxies that the file gives, with their keys.
func (l *loader) eachProxy(cfg *Config, visit func(key string, p *Proxy)) {
	given := func(key string, p *Proxy) {
		if p != nil && l.given(key) {
			visit(key, p)
		}
	}
	given("proxy", cfg.Proxy)
	ofAPI := func(key string, api *API) {
		given(key+".proxy", api.Proxy)
		given(key+".spec_proxy", api.SpecProxy)
		keys, credentials := api.AllCredentials()
		for n, c := range credentials {
			given(key+"."+keys[n]+".proxy", c.Proxy)
		}
	}
	for i := range cfg.APIs {
		ofAPI(fmt.Sprintf("apis[%d]", i), &cfg.APIs[i])
	}
	for i := range cfg.Discovery {
		d, key := &cfg.Discovery[i], DiscoveryKey(i)
		ofAPI(key+".api", &d.API.api)
		_, sent := d.Settings()
		for j := range sent {
			ofAPI(fmt.Sprintf("%s.credentials[%d]", key, j), &sent[j])
		}
		if d.HTTP != nil {
			given(key+".http.proxy", d.HTTP.Proxy)
		}
	}
	if cfg.Auth != nil {
		for i := range cfg.Auth.Issuers {
			given(fmt.Sprintf("auth.issuers[%d].proxy", i), cfg.Auth.Issuers[i].Proxy)
		}
	}
	if e := cfg.Embeddings(); e != nil {
		given("search.embeddings.proxy", e.Proxy)
	}
	if o := cfg.Admin.Console.OIDC; o != nil {
		given("admin.console.oidc.proxy", o.Proxy)
	}
	given("telemetry.proxy", cfg.Telemetry.Proxy)
}

// outgoing checks the proxies that connections of the gateway go through.
func (l *loader) outgoing(cfg *Config) {
	l.eachProxy(cfg, l.proxy)
	for i := range cfg.APIs {
		api, key := &cfg.APIs[i], fmt.Sprintf("apis[%d]", i)
		l.unenforceable(key, api)
		if l.given(key+".spec_proxy") && !api.Spec.IsURL() && len(api.AllowRefs) == 0 && !slices.ContainsFunc(api.Overlays, Location.IsURL) && l.ok(key+".spec") {
			l.errorf(key+".spec_proxy", "has no effect: the document is a file, and nothing else is fetched for it")
		}
	}
	for i := range cfg.Discovery {
		l.unboundServices(DiscoveryKey(i), &cfg.Discovery[i])
	}
	if cfg.Telemetry.OTLPEndpoint == nil && l.given("telemetry.proxy") && l.ok("telemetry.otlp_endpoint") {
		l.errorf("telemetry.proxy", "has no effect without telemetry.otlp_endpoint")
	}
}

// unboundServices rejects a provider whose services nothing would bind to servers: a proxy that resolves names decides which addresses
// these stand for.
func (l *loader) unboundServices(key string, d *Discovery) {
	shared, _ := d.Settings()
	l.unenforceable(key, &shared)
	if len(d.AllowServers) > 0 || len(d.AllowAddresses) > 0 || !l.ok(key+".allow_servers", key+".allow_addresses") {
		return
	}
	for _, p := range []*Proxy{shared.Proxy, shared.SpecProxy} {
		if p.ResolvesNames() {
			l.errorf(key+".allow_servers", "is required with resolve: proxy of the proxy %s, which resolves names itself: otherwise the registry decides which addresses are called", p.URL)
			return
		}
	}
}

// unenforceable rejects address rules that nobody would apply: see docs/contributing/adr/0036.
func (l *loader) unenforceable(key string, api *API) {
	if len(api.AllowAddresses) == 0 || !l.ok(key+".allow_addresses") {
		return
	}
	for _, p := range []*Proxy{api.Proxy, api.SpecProxy} {
		if p.ResolvesNames() {
			l.errorf(key+".allow_addresses", "can't be enforced with resolve: proxy of the proxy %s, which resolves names itself: "+
				"restrict addresses there and leave this out, or let the gateway resolve names", p.URL)
			return
		}
	}
}

// proxy checks one proxy that is given.
func (l *loader) proxy(key string, p *Proxy) {
	if p.off || !l.ok(key, key+".url") {
		return
	}
	if p.CAFile != "" && l.ok(key+".ca_file") {
		l.authority(key+".ca_file", p.CAFile)
		if p.URL.at.scheme != "https" {
			l.errorf(key+".ca_file", "has no effect: the URL is not https")
		} else if l.ok(key + ".ca_file") {
			data, _, _ := readRegular(string(p.CAFile)) // authority has reported an error
			p.authorities = string(data)
		}
	}
	for _, u := range []*ProxyURL{p.plain, p.secure} {
		if u != nil && !(p.environment && u == p.secure && p.plain != nil && *p.plain.at == *p.secure.at) {
			l.proxyCredentials(key, p, u)
		}
		if !p.environment {
			break // both are the same
		}
	}
	if p.ResolvesNames() {
		l.warnf(key+".resolve", "the proxy resolves names, so that the addresses of services are not checked: its own rules must keep connections from private and metadata addresses")
	}
}

// proxyCredentials checks the user and password for a proxy.
func (l *loader) proxyCredentials(key string, p *Proxy, u *ProxyURL) {
	at, where := u.at, key+".url"
	if p.environment {
		where = key
	}
	switch {
	case p.User != "" && at.user != "":
		l.errorf(key+".user", "stands in the URL too")
		return
	case !p.Password.IsZero() && at.hasPassword:
		l.errorf(key+".password", "stands in the URL too")
		return
	case !l.ok(where, key+".user", key+".password"):
		return
	}
	user, password := p.Reveal(u)
	if user == "" && password != "" {
		l.errorf(where, "has a password without a user")
		return
	}
	if user == "" {
		return
	}
	if err := checkProxyUser(at.scheme, user, password); err != nil {
		l.errorf(where, "%s", err)
	}
	if at.scheme != "https" && !origin.Loopback(at.host) {
		l.warnf(where, "the password for the proxy travels in clear; https protects it")
	}
}

// checkProxyUser tells what the protocol can't transport (RFC 7617 section 2, RFC 1929 section 2).
func checkProxyUser(scheme, user, password string) error {
	const most = 255 // bytes
	switch {
	case strings.ContainsFunc(user+password, unicode.IsControl):
		return errors.New("has a control character in the user or password of the proxy")
	case scheme == "socks5" && (len(user) > most || len(password) > most || password == ""):
		return fmt.Errorf("needs a user and password of 1 to %d bytes each, for socks5", most)
	case scheme != "socks5" && strings.Contains(user, ":"):
		return errors.New("has a user with a colon, which Proxy-Authorization can't transport")
	}
	return nil
}
