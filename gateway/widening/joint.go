package widening

import (
	"fmt"
	"maps"
	"slices"

	"drawbridge/config"
)

// joint is the part of a configuration that several keys decide together, with the rules of keys. opens is the report.
type joint struct {
	Hosts      []host   `yaml:"hosts" access:"grants" opens:"server.allowed_hosts: requests for the host %q are let in"`
	AdminHosts []host   `yaml:"admin_hosts" access:"grants" opens:"admin.allowed_hosts: operators' requests for the host %q are let in"`
	Origins    []string `yaml:"origins" access:"grants" opens:"server.allowed_origins: pages of the origin %q are let in"`
	Local      bool     `yaml:"local" access:"restricts" opens:"server.listen: other machines reach the gateway"`
	AdminLocal bool     `yaml:"admin_local" access:"restricts" opens:"admin.listen: other machines reach the listener for operators"`
	ClientCAs  bool     `yaml:"client_cas" access:"restricts" opens:"server.tls.client_ca_file: clients need no certificate any more"`
	// The protections that refuse requests while Redis is unavailable.
	Closed []config.SharedUse `yaml:"closed" access:"restricts" opens:"state.closed: calls go on without Redis that were refused"`

	Redis           string `yaml:"redis" access:"grants" opens:"state.redis: what the gateway knows of calls goes to another place"`
	RedisAnswers    string `yaml:"redis_answers" access:"grants" opens:"state.redis.answers: what the gateway knows of calls goes to another place"`
	Traces          string `yaml:"traces" access:"grants" opens:"telemetry.otlp_endpoint: what the gateway knows of calls goes to another place"`
	Metrics         string `yaml:"metrics" access:"grants" opens:"telemetry.otlp_signals: what the gateway counts goes to another place"`
	Embeddings      string `yaml:"embeddings" access:"grants" opens:"search.embeddings.url: what the gateway knows of calls goes to another place"`
	Proxy           string `yaml:"proxy" access:"grants" opens:"proxy: what the gateway knows of calls goes to another place"`
	TracesProxy     string `yaml:"traces_proxy" access:"grants" opens:"telemetry.proxy: what the gateway knows of calls goes to another place"`
	EmbeddingsProxy string `yaml:"embeddings_proxy" access:"grants" opens:"search.embeddings.proxy: what the gateway knows of calls goes to another place"`
	AuditFile       string `yaml:"audit_file" access:"moves" opens:"audit.file: what the gateway knows of calls goes to another place"`

	// Logged values whose removal is a loss, and values of callers that are logged unchanged.
	Audited []string `yaml:"audited" access:"restricts" opens:"audit: it does not tell of %s any more"`
	Shown   []string `yaml:"shown" access:"grants" opens:"audit: it shows %s"`

	Bodies   bool   `yaml:"bodies" access:"grants" opens:"admin.console.show_bodies: operators see arguments and answers of calls"`
	Provider string `yaml:"provider" access:"moves" opens:"admin.console.oidc: another provider says who signs in to the console"`
}

// host is a host with or without a port.
type host string

func jointOf(c *config.Config) joint {
	j := joint{
		Hosts: hosts(c.Hosts()), AdminHosts: hosts(c.Admin.Hosts()), Origins: c.Origins(),
		Local: c.Server.Listen.Loopback(), AdminLocal: c.Admin.Listen.Loopback(),
		ClientCAs: c.Server.TLS != nil && c.Server.TLS.ClientCAFile != "",
		Closed:    slices.DeleteFunc(slices.Clone(c.State.Closed), func(use config.SharedUse) bool { return use == config.SharedRates }),
		Proxy:     proxyOf(c.Proxy), TracesProxy: proxyOf(c.Telemetry.Proxy),
	}
	if r := c.State.Redis; r != nil {
		j.Redis = r.URL.String() + "\n" + r.CAFile.String() + "\n" + r.Prefix
		if r.Answers {
			j.RedisAnswers = j.Redis
		}
	}
	if u := c.Telemetry.OTLPEndpoint; u != nil {
		if slices.Contains(c.Telemetry.OTLPSignals, config.SignalTraces) {
			j.Traces = u.String()
		}
		if slices.Contains(c.Telemetry.OTLPSignals, config.SignalMetrics) {
			j.Metrics = u.String()
		}
	}
	if e := c.Embeddings(); e != nil {
		j.Embeddings, j.EmbeddingsProxy = e.URL.String(), proxyOf(e.Proxy)
	}
	j.audit(c)
	if a := &c.Admin; a.ConsoleOn() {
		j.Bodies = a.Console.ShowBodies
		if o := a.Console.OIDC; o != nil {
			j.Provider = string(encoded([]string{o.Issuer.String(), o.ClientID, o.RolesClaim, o.CAFile.String()}))
		}
	}
	return j
}

func hosts(names []string) (all []host) {
	for _, name := range names {
		all = append(all, host(name))
	}
	return all
}

func (j *joint) audit(c *config.Config) {
	a := c.Audit
	if a == nil {
		return
	}
	j.AuditFile = a.File.String() + "\n" // also if it is standard output
	if collector := c.Telemetry.SignalURL(config.LogsPath); a.OTLP && collector != nil {
		j.AuditFile += collector.String()
	}
	for _, audited := range []struct {
		what string
		is   bool
	}{
		{"calls", true},
		{"refusals", a.Refusals},
		{"subjects", a.Subject != config.SubjectNone},
		{"arguments", a.Arguments == config.ArgumentsDigest},
		{"calls that it has no room for, which wait", a.WhenFull == config.FullBlock},
	} {
		if audited.is {
			j.Audited = append(j.Audited, audited.what)
		}
	}
	if a.Subject == config.SubjectPlain {
		j.Shown = append(j.Shown, "the subjects of tokens")
	}
	for _, p := range a.Fields {
		j.Shown = append(j.Shown, "the argument "+string(p))
	}
}

// operators returns the people that the console admits, and whether they may change what is served. While it is off, it admits nobody.
func operators(a *config.Admin) map[string]bool {
	if !a.ConsoleOn() {
		return nil
	}
	all := map[string]bool{}
	if !a.Token.IsZero() {
		all["who has admin.token"] = true
	}
	for _, t := range a.Console.Tokens {
		all["who has the token of "+t.Name] = t.Role == config.ConsoleOperate
	}
	if o := a.Console.OIDC; o != nil {
		for _, value := range o.Roles.View {
			all["who has "+o.RolesClaim+" "+value] = false
		}
		for _, value := range o.Roles.Operate {
			all["who has "+o.RolesClaim+" "+value] = true
		}
	}
	return all
}

func (w *comparison) operators(old, new map[string]bool) {
	for _, who := range slices.Sorted(maps.Keys(new)) {
		operated, known := old[who]
		w.when(!known && !new[who], "admin.console", "%s can look at what is served", who)
		w.when(!operated && new[who], "admin.console", "%s can change what is served, and call tools", who)
	}
}

// proxyOf identifies the proxies that see connections; "" if none does.
func proxyOf(p *config.Proxy) string {
	if !p.On() {
		return ""
	}
	return fmt.Sprint(p.For("http"), p.For("https"), p.CAFile)
}
