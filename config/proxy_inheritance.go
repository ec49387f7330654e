package config

import "fmt"

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
			if c.Type.IsOAuth() || c.Type == CredentialLogin {
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
