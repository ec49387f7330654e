package former

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// Summary is what a configuration allows and restricts. Locations and conditions are digests,
// because they may contain secrets.
type Summary struct {
	// Auth is nil without auth in the configuration, or with auth.anonymous.
	Auth *Auth `json:"auth,omitempty"`
	// Anonymous reports that anonymous access is configured explicitly.
	Anonymous bool `json:"anonymous,omitempty"`

	Hosts        []string       `json:"hosts,omitempty"`
	AdminHosts   []string       `json:"admin_hosts,omitempty"`
	Origins      []string       `json:"origins,omitempty"`
	Proxies      []netip.Prefix `json:"proxies,omitempty"`
	ClientCAs    bool           `json:"client_cas,omitempty"` // client certificates are required
	Clients      []string       `json:"clients,omitempty"`    // digests of the certificates of their authorities; nil if unknown
	TLS          bool           `json:"tls,omitempty"`
	Local        bool           `json:"local,omitempty"`         // the listener for clients is on loopback
	AdminLocal   bool           `json:"admin_local,omitempty"`   // the listener for operators is on loopback
	AdminRefuses bool           `json:"admin_refuses,omitempty"` // reload and accept by request are disabled
	Lock         string         `json:"lock,omitempty"`          // digest of the path
	Confirm      bool           `json:"confirm,omitempty"`       // destructive tools need consent
	Refuse       bool           `json:"refuse,omitempty"`        // without consent the call is rejected
	Exempt       []string       `json:"exempt,omitempty"`        // scopes whose holders need no consent
	CallbackURLs []string       `json:"callback_urls,omitempty"`
	Endpoints    []Endpoint     `json:"endpoints,omitempty"`
	Prompts      []Prompt       `json:"prompts,omitempty"`
	APIs         []API          `json:"apis"`
	Closed       []string       `json:"closed,omitempty"` // protections that reject while Redis is unavailable
	// Audit, Console and Outside are nil if unknown, in a record of an earlier version.
	Audit   *Audit            `json:"audit"`
	Console *Console          `json:"console"`
	Outside map[string]string `json:"outside"`
	// Providers are the providers of services, by their names.
	Providers map[string]Provider `json:"providers,omitempty"`
	Limits    Limits              `json:"limits,omitzero"`
	// Gone are removed APIs with their restrictions: one that reappears is compared with its last
	// version.
	Gone        []API    `json:"gone,omitempty"`
	GonePrompts []Prompt `json:"gone_prompts,omitempty"`
}

// Auth is the part of auth that determines access.
type Auth struct {
	Issuers       []Issuer            `json:"issuers"`
	DefaultScopes []string            `json:"default_scopes,omitempty"`
	AllowUnscoped bool                `json:"allow_unscoped,omitempty"`
	Implies       map[string][]string `json:"implies,omitempty"`
	Shared        bool                `json:"shared_audience,omitempty"`
	Hide          bool                `json:"hide,omitempty"`
	Nonce         bool                `json:"nonce,omitempty"`
}

// Issuer is an issuer without its client secret.
type Issuer struct {
	URL           string   `json:"url"`
	Preset        string   `json:"preset,omitempty"`
	Opaque        bool     `json:"opaque,omitempty"`
	Introspection string   `json:"introspection,omitempty"` // digest of the endpoint
	Audiences     []string `json:"audiences,omitempty"`
	ClientIDs     []string `json:"client_ids,omitempty"`
	RequireClient bool     `json:"require_client,omitempty"`
	IDTokenClaims []string `json:"id_token_claims,omitempty"`
	ScopeClaims   []string `json:"scope_claims,omitempty"`
	MaxLifetime   int64    `json:"max_lifetime,omitempty"`
	DPoP          string   `json:"dpop,omitempty"`
	Algorithms    []string `json:"algorithms,omitempty"`
	Types         []string `json:"types,omitempty"`
	Skew          int64    `json:"skew,omitempty"`
	CAFile        string   `json:"ca_file,omitempty"` // digest of the path
}

// Endpoint is an additional endpoint.
type Endpoint struct {
	Name          string   `json:"name"`
	Match         string   `json:"match,omitempty"`
	DefaultScopes []string `json:"default_scopes,omitempty"`
}

// Prompt is a prompt with scopes of its own.
type Prompt struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes,omitempty"` // empty for the defaults
	// Endpoints are those with the prompt, besides /mcp; nil if unknown.
	Endpoints []string `json:"endpoints"`
}

// API is an entry of apis, with the rules that may match it.
type API struct {
	Name string `json:"name,omitempty"`
	Spec string `json:"spec"` // digest of the location
	// Entry is a digest of the location in the file, which is the directory for documents in a
	// directory.
	Entry string `json:"entry"`

	Include        string         `json:"include,omitempty"`
	Exclude        []string       `json:"exclude,omitempty"`
	DocumentScopes bool           `json:"document_scopes,omitempty"`
	ScopeMap       string         `json:"scope_map,omitempty"`
	Trusted        bool           `json:"trusted,omitempty"` // with extensions
	BaseURL        string         `json:"base_url,omitempty"`
	Slashes        []string       `json:"slashes,omitempty"`
	NoSlashes      []string       `json:"no_slashes,omitempty"` // path parameters whose slashes are rejected
	Variables      string         `json:"variables,omitempty"`
	CAFile         string         `json:"ca_file,omitempty"`
	ServerName     string         `json:"server_name,omitempty"` // of tls
	TLS13          bool           `json:"tls_13,omitempty"`      // the lowest version is 1.3
	Root           string         `json:"root,omitempty"`        // digest of the path
	Overlays       []string       `json:"overlays,omitempty"`    // digests of the locations, in their order
	Servers        []string       `json:"servers,omitempty"`
	Refs           []string       `json:"refs,omitempty"`
	Addresses      []netip.Prefix `json:"addresses,omitempty"`
	Proxy          string         `json:"proxy,omitempty"`      // digest of that of calls
	SpecProxy      string         `json:"spec_proxy,omitempty"` // digest of that of documents
	Unchecked      bool           `json:"unchecked,omitempty"`  // a proxy resolves names, so that addresses are not checked
	PassHeaders    []string       `json:"pass_headers,omitempty"`
	AnswerHeaders  []string       `json:"answer_headers,omitempty"`
	Redirected     bool           `json:"redirected,omitempty"` // requests follow redirects of the service
	Dropped        []string       `json:"dropped,omitempty"`    // arguments that are not sent
	Rules          []Rule         `json:"rules,omitempty"`
	Rate           Rate           `json:"rate,omitzero"`
	MaxInFlight    int            `json:"max_in_flight,omitempty"` // concurrent calls; 0 if unknown
	// Identities are the identities that the service sees; nil if unknown, and then so is what
	// rules allow for jobs.
	Identities map[string]string `json:"identities"`
}

// Rule is the part of a rule that restricts calls, or lifts a restriction.
type Rule struct {
	Match     string   `json:"match"`
	API       []string `json:"api,omitempty"` // patterns for API names, if each selector has some
	Scopes    []string `json:"scopes,omitempty"`
	Unscoped  bool     `json:"unscoped,omitempty"` // an empty list of scopes: the defaults
	Condition string   `json:"condition,omitempty"`
	Confirm   *bool    `json:"confirm,omitempty"`
	Asked     []string `json:"asked,omitempty"` // arguments that are always elicited
	Asks      bool     `json:"asks,omitempty"`  // the rule has inputs
	Hidden    []string `json:"hidden,omitempty"`
	Fixed     []string `json:"fixed,omitempty"`  // see [Fixed]
	Free      []string `json:"free,omitempty"`   // arguments that callers give in spite of earlier rules
	Caches    bool     `json:"caches,omitempty"` // the rule enables or disables caching
	Shared    bool     `json:"shared,omitempty"` // responses are shared among callers
	HasJob    bool     `json:"has_job,omitempty"`
	Job       []string `json:"job,omitempty"`  // requests that a job may cause besides those for its status
	Rate      *Rate    `json:"rate,omitempty"` // the zero value is off; nil if the rule has none
	// Annotations are the hints that decide what clients let pass; nil if the rule has none of them.
	Annotations *Annotations `json:"annotations,omitempty"`
}

// Annotations are those of a rule that clients act upon.
type Annotations struct {
	ReadOnly    *bool `json:"read_only,omitempty"`
	Destructive *bool `json:"destructive,omitempty"`
	OpenWorld   *bool `json:"open_world,omitempty"`
}

func annotationsOf(a *config.Annotations) *Annotations {
	if a == nil || a.ReadOnly == nil && a.Destructive == nil && a.OpenWorld == nil {
		return nil
	}
	return &Annotations{a.ReadOnly, a.Destructive, a.OpenWorld}
}

// settings returns the annotations as those of a rule.
func (a *Annotations) settings() *config.Annotations {
	return &config.Annotations{ReadOnly: a.ReadOnly, Destructive: a.Destructive, OpenWorld: a.OpenWorld}
}

// Of summarizes a configuration. before is the summary of the preceding one, whose removed APIs are
// kept; nil if there is none.
func Of(c *config.Config, before *Summary) *Summary {
	s := &Summary{
		Anonymous: c.Auth != nil && c.Auth.Anonymous, Auth: authOf(c),
		Hosts: c.Hosts(), AdminHosts: c.Admin.Hosts(), Origins: c.Origins(), Proxies: prefixes(c.Server.TrustedProxies),
		TLS: c.Server.TLS != nil, ClientCAs: c.Server.TLS != nil && c.Server.TLS.ClientCAFile != "", Clients: c.ClientAuthorities(),
		Local: c.Server.Listen.Loopback(), AdminLocal: c.Admin.Listen.Loopback(), AdminRefuses: c.Admin.Token.IsZero(),
		Audit: auditOf(c), Console: consoleOf(&c.Admin), Outside: outsideOf(c), Providers: providersOf(c), Limits: limitsOf(c),
		Lock: digest(c.Tools.Lock.String()), Confirm: c.Tools.Confirm == config.ConfirmDestructive,
		Refuse: c.Tools.Unconfirmed != config.UnconfirmedAllow, Exempt: c.Tools.UnconfirmedScopes, CallbackURLs: texts(c.Tools.CallbackURLs),
	}
	for i := range c.Endpoints {
		e := &c.Endpoints[i]
		s.Endpoints = append(s.Endpoints, Endpoint{e.Name, encode(e.Match), e.DefaultScopes})
	}
	for _, use := range c.State.Closed {
		if use != config.SharedRates {
			s.Closed = append(s.Closed, string(use))
		}
	}
	for i := range c.Prompts {
		p := &c.Prompts[i]
		s.Prompts = append(s.Prompts, Prompt{p.Name, p.Scopes, append([]string{}, p.Endpoints...)})
	}
	for i := range c.APIs {
		if !c.APIs[i].IsDiscovered() {
			s.APIs = append(s.APIs, apiOf(c, &c.APIs[i]))
		}
	}
	for i := range c.Discovery {
		s.APIs = append(s.APIs, serviceAPIOf(c, &c.Discovery[i]))
	}
	if before != nil {
		s.remember(before)
	}
	return s
}

// remember adds what the preceding configuration had or remembered, and this one has not.
func (s *Summary) remember(before *Summary) {
	known := slices.Concat(before.APIs, before.Gone)
	_, succeeded := Pair(known, s.APIs, API.equal, API.same)
	for i, a := range known {
		if !succeeded[i] && len(s.Gone) < maxGone {
			s.Gone = append(s.Gone, a)
		}
	}
	for _, p := range slices.Concat(before.Prompts, before.GonePrompts) {
		named := func(o Prompt) bool { return o.Name == p.Name }
		if !slices.ContainsFunc(s.Prompts, named) && !slices.ContainsFunc(s.GonePrompts, named) && len(s.GonePrompts) < maxGone {
			s.GonePrompts = append(s.GonePrompts, p)
		}
	}
}

// maxGone is the maximum number of remembered APIs, and of prompts.
const maxGone = 256

func (a API) equal(other API) bool { return reflect.DeepEqual(a, other) }
func (a API) same(other API) bool  { return a.Name == other.Name && a.Spec == other.Spec }

func authOf(c *config.Config) *Auth {
	if c.Auth == nil || c.Auth.Anonymous {
		return nil
	}
	a := &Auth{DefaultScopes: c.Auth.DefaultScopes, AllowUnscoped: c.Auth.AllowUnscoped, Implies: c.Auth.Implies, Shared: c.Auth.SharedAudience,
		Hide: c.Auth.HideUnauthorized, Nonce: c.Auth.DPoPNonce}
	for i := range c.Auth.Issuers {
		is := &c.Auth.Issuers[i]
		one := Issuer{
			URL: is.Issuer.String(), Preset: string(is.Preset), Opaque: is.Opaque(), Audiences: is.Audiences, ClientIDs: is.ClientIDs,
			RequireClient: is.RequireClient, IDTokenClaims: texts(is.IDTokenClaims), ScopeClaims: is.ScopeClaims, MaxLifetime: int64(is.MaxLifetime),
			DPoP: string(is.DPoP), Algorithms: texts(is.Algorithms), Types: is.AcceptTyp, Skew: int64(is.Skew), CAFile: digest(is.CAFile.String()),
		}
		if in := is.Introspection; in != nil && in.Endpoint != nil {
			one.Introspection = digest(in.Endpoint.String())
		}
		a.Issuers = append(a.Issuers, one)
	}
	return a
}

// passedHeaders returns the headers that are passed through, with the names that the service gets.
func passedHeaders(headers []config.PassedHeader) (names []string) {
	for _, h := range headers {
		names = append(names, h.From+" "+h.To)
	}
	return names
}

// slashes returns the path parameters whose values may hold slashes, and those whose values must not.
func slashes(parameters []config.SlashParameter) (names, rejected []string) {
	for _, p := range parameters {
		name := p.Name
		if p.As == config.SlashRejected {
			rejected = append(rejected, name)
			continue
		}
		if p.As != config.SlashRaw {
			name += " " + string(p.As)
		}
		names = append(names, name)
	}
	return names, rejected
}

func apiOf(c *config.Config, api *config.API) API {
	allowed, rejected := slashes(api.SlashParameters)
	entry := api.Spec.String()
	if api.FromDirectory() {
		entry = filepath.Dir(entry)
	}
	a := API{
		Name: api.Name, Spec: digest(api.Spec.String()), Entry: digest(entry), DocumentScopes: api.ScopesFromDocument, ScopeMap: encode(api.ScopeMap),
		Trusted: api.TrustExtensions, Slashes: allowed, NoSlashes: rejected, Variables: encode(api.ServerVariables), CAFile: digest(api.CAFile.String()), Root: digest(api.Root.String()),
		Servers: texts(api.AllowServers), Refs: texts(api.AllowRefs), Addresses: prefixes(api.AllowAddresses), PassHeaders: passedHeaders(api.PassHeaders),
		Proxy: proxyOf(api.Proxy), SpecProxy: proxyOf(api.SpecProxy), Unchecked: api.Proxy.ResolvesNames() || api.SpecProxy.ResolvesNames(),
		AnswerHeaders: api.AnswerHeaders, Redirected: api.FollowRedirects == config.FollowSameOrigin,
		Include: encode(api.Tools.Include), Identities: identitiesOf(api), Rate: rateOf(api.Rate), MaxInFlight: api.MaxInFlight,
	}
	a.Dropped, _ = c.DroppedArguments(api)
	for _, overlay := range api.Overlays {
		a.Overlays = append(a.Overlays, digest(overlay.String()))
	}
	if t := api.TLS; t != nil {
		a.ServerName, a.TLS13 = t.ServerName, t.MinVersion == config.TLS13
	}
	if api.BaseURL != nil {
		a.BaseURL = digest(api.BaseURL.String())
	}
	for _, sel := range api.Tools.Exclude {
		a.Exclude = append(a.Exclude, encode(sel))
	}
	for i := range c.Rules {
		if r, ok := ruleOf(&c.Rules[i]); ok && mayMatch(c.Rules[i].Match, api.Name) {
			a.Rules = append(a.Rules, r)
		}
	}
	return a
}

// mayMatch reports whether selectors may match operations of an API. An API without a name has that
// of its document, which is unknown here.
func mayMatch(selectors config.Selectors, name string) bool {
	return slices.ContainsFunc(selectors, func(sel config.Selector) bool {
		return name == "" || len(sel.API) == 0 || config.Selector{API: sel.API}.Match(config.Subject{API: name})
	})
}

func ruleOf(r *config.Rule) (Rule, bool) {
	set := &r.Set
	one := Rule{
		Match: encode(r.Match), Scopes: set.Scopes, Unscoped: set.Scopes != nil && len(set.Scopes) == 0, Confirm: set.Confirm,
		Asks: set.Inputs != nil, Asked: Asked(set.Inputs), Hidden: Hidden(set.SensitiveFields),
		Fixed: Fixed(set.Arguments), Free: free(set.Arguments),
		Caches: set.Cache != nil, Shared: set.Cache.On() && set.Cache.Shared, HasJob: set.Job != nil, Job: JobCalls(set.Job), Annotations: annotationsOf(set.Annotations),
	}
	if set.Condition != "" {
		one.Condition = digest(set.Condition)
	}
	if set.Rate != nil {
		rate := rateOf(set.Rate)
		one.Rate = &rate
	}
	for _, sel := range r.Match {
		if len(sel.API) == 0 {
			one.API = nil
			break
		}
		for _, p := range sel.API {
			one.API = append(one.API, p.String())
		}
	}
	return one, set.Scopes != nil || set.Condition != "" || set.Confirm != nil || set.Inputs != nil || len(one.Hidden)+len(one.Fixed)+len(one.Free) > 0 || one.Caches || one.HasJob || one.Rate != nil || one.Annotations != nil
}

// Asked returns the arguments that are always elicited from the user, so that no caller can set
// them.
func Asked(inputs []config.Input) (names []string) {
	for i := range inputs {
		if inputs[i].When != config.InputAlways {
			continue
		}
		names = append(names, inputs[i].Arguments...)
		for name := range inputs[i].Bind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// JobCalls returns the requests that a job may cause besides those for its status: calls of
// operations, which need not be tools, and others.
func JobCalls(j *config.Job) (calls []string) {
	if j == nil || j.Off() {
		return nil
	}
	for _, op := range []*config.JobOperation{j.Status, j.Result, j.Cancel} {
		switch {
		case op == nil:
		case op.Operation != "":
			calls = append(calls, op.Operation)
		case op.Method != "" && op.Method != config.JobGet:
			calls = append(calls, string(op.Method)+" at the job's URL")
		}
	}
	if j.Links {
		calls = append(calls, "links of the document")
	}
	if j.Questions != nil {
		calls = append(calls, j.Questions.Answer.Operation)
	}
	if j.Callback != nil && j.Callback.Signature == nil {
		calls = append(calls, "callbacks without a signature")
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// Hidden returns the fields that are hidden in responses. A removed field has two entries, because
// a masked one is weaker: its name is visible.
func Hidden(s *config.SensitiveFields) (fields []string) {
	for field, action := range s.All() {
		fields = append(fields, field.String())
		if action == config.FieldRemove {
			fields = append(fields, field.String()+" and its name")
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// digest returns a digest of a text that may be secret; "" for none.
func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// encode encodes a configuration value so that equal values have equal texts; "" for an empty one.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil || strings.Trim(string(text), "[]{}") == "" || string(text) == "null" {
		return ""
	}
	return string(text)
}

func texts[T ~string](values []T) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

func prefixes(networks []config.Network) (all []netip.Prefix) {
	for _, n := range networks {
		all = append(all, n.Prefix())
	}
	return all
}
