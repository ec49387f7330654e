package former

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/config"
)

// Audit is the content of the audit log.
type Audit struct {
	Keeps []string `json:"keeps"` // logged values whose removal is a loss
	Shows []string `json:"shows"` // values of callers that are logged unchanged
}

func auditOf(c *config.Config) *Audit {
	a, of := &Audit{Keeps: []string{}, Shows: []string{}}, c.Audit
	if of == nil {
		return a
	}
	for _, keeps := range []struct {
		what string
		is   bool
	}{
		{"calls", true},
		{"refusals", of.Refusals},
		{"subjects", of.Subject != config.SubjectNone},
		{"arguments", of.Arguments == config.ArgumentsDigest},
		{"calls that it has no room for, which wait", of.WhenFull == config.FullBlock},
	} {
		if keeps.is {
			a.Keeps = append(a.Keeps, keeps.what)
		}
	}
	if of.Subject == config.SubjectPlain {
		a.Shows = append(a.Shows, "the subjects of tokens")
	}
	for _, p := range of.Fields {
		a.Shows = append(a.Shows, "the argument "+string(p))
	}
	return a
}

// outsideOf returns the destinations of data about calls, besides services, as digests by
// configuration key.
func outsideOf(c *config.Config) map[string]string {
	outside := map[string]string{}
	proxies := map[string]*config.Proxy{"proxy": c.Proxy, "telemetry.proxy": c.Telemetry.Proxy}
	if r := c.State.Redis; r != nil {
		outside["state.redis"] = digest(r.URL.String() + "\n" + r.CAFile.String() + "\n" + r.Prefix)
		if r.Answers {
			outside["state.redis.answers"] = outside["state.redis"]
		}
	}
	if u := c.Telemetry.OTLPEndpoint; u != nil {
		outside["telemetry.otlp_endpoint"] = digest(u.String())
	}
	if e := c.Embeddings(); e != nil {
		outside["search.embeddings.url"] = digest(e.URL.String())
		proxies["search.embeddings.proxy"] = e.Proxy
	}
	for key, p := range proxies {
		if p.On() {
			outside[key] = proxyOf(p)
		}
	}
	if c.Audit != nil {
		outside["audit.file"] = digest(c.Audit.File.String() + "\n")
	}
	return outside
}

// proxyOf identifies the proxies that see connections; "" if none does.
func proxyOf(p *config.Proxy) string {
	if !p.On() {
		return ""
	}
	return digest(fmt.Sprint(p.For("http"), p.For("https"), p.CAFile))
}

func (w *comparison) outside(old, new *Summary) {
	w.when(!contains(new.Closed, old.Closed), "state.closed", "calls go on without Redis that were refused")
	if old.Audit != nil && new.Audit != nil {
		for _, what := range old.Audit.Keeps {
			w.when(!slices.Contains(new.Audit.Keeps, what), "audit", "it does not tell of %s any more", what)
		}
		for _, what := range new.Audit.Shows {
			w.when(!slices.Contains(old.Audit.Shows, what), "audit", "it shows %s", what)
		}
	}
	if old.Outside == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(new.Outside)) {
		was, ok := old.Outside[key]
		w.when(was != new.Outside[key] && (ok || key != "audit.file"), key, "what the gateway knows of calls goes to another place")
	}
}

// identitiesOf returns the identities that the service of an API sees: the gateway, or a caller.
// The values are their kinds with digests of the parts that are not secret. A changed secret is not
// a changed identity: a renewed token can't be distinguished from a token of somebody else.
func identitiesOf(api *config.API) map[string]string {
	all := map[string]string{}
	keys, credentials := api.AllCredentials()
	for i, c := range credentials {
		if c != api.SpecCredential {
			all[keys[i]] = credentialOf(c)
		}
	}
	if api.Identity != nil {
		all["identity"] = digest(encode([]string{api.Identity.Audience, api.Identity.HeaderName()}))
	}
	if api.ClientCertificate != nil {
		all["client_certificate"] = digest(api.ClientCertificate.CertFile.String())
	}
	if r := api.Request; r != nil {
		for kind, values := range map[string]map[string]*config.RequestValue{"headers": r.Headers, "query": r.Query} {
			for name, v := range values {
				all["request."+kind+"."+name] = requestValueOf(v)
			}
		}
	}
	for _, h := range api.PassHeaders {
		if h.IsCredential() {
			all["pass_headers to "+h.To] = digest(h.From)
		}
	}
	return all
}

// requestValueOf identifies a value that requests have; secrets are rotated.
func requestValueOf(v *config.RequestValue) string {
	switch {
	case v.Claim != "":
		return "claim " + digest(v.Claim)
	case !v.Secret.IsZero():
		return "secret"
	}
	return "value " + digest(v.Value)
}

func credentialOf(c *config.Credential) string {
	public := *c
	// Secrets, values renewed together with them, and the client authentication method are omitted,
	// because they change when keys are rotated.
	none := config.Secret{}
	public.Token, public.Password, public.Value, public.SecretAccessKey, public.SessionToken, public.ClientSecret = none, none, none, none, none, none
	public.Proxy = nil // how its authorization server is reached
	public.AccessKeyID, public.ClientAuth, public.KeyFile, public.KeyID, public.KeyAlgorithm, public.CertFile = "", "", "", "", "", ""
	if public.Assertion != nil {
		a := *public.Assertion
		a.Lifetime, public.Assertion = 0, &a
	}
	text, _ := json.Marshal(public) // it consists of strings, lists and maps
	return string(c.Type) + " " + digest(string(text))
}

// identities compares the identities that services see. Sending no identity any more is not wider.
func (w *comparison) identities(key string, old, new map[string]string) {
	if old == nil || len(new) == 0 || maps.Equal(old, new) {
		return // unknown, as in a record of an earlier version
	}
	kind := func(v string) string { name, _, _ := strings.Cut(v, " "); return name }
	var changes []string
	for _, of := range slices.Sorted(maps.Keys(old)) {
		is, ok := new[of]
		switch was := old[of]; {
		case !ok:
			changes = append(changes, of+" is gone")
		case is != was && kind(is) != kind(was) && strings.Contains(was, " "):
			changes = append(changes, fmt.Sprintf("%s was of type %s and is of type %s", of, kind(was), kind(is)))
		case is != was:
			changes = append(changes, of+" is another")
		}
	}
	for _, of := range slices.Sorted(maps.Keys(new)) {
		if _, ok := old[of]; !ok {
			changes = append(changes, of+" is new")
		}
	}
	w.when(true, key, "calls reach the service in another name: %s", strings.Join(changes, ", "))
}
