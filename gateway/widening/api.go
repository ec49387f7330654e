package widening

import (
	"cmp"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// API is an entry of apis, with the rules that may match it.
type API struct {
	Name string `json:"name,omitempty"`
	Spec string `json:"spec"` // digest of the location
	// Entry is a digest of the location in the file, which is the directory for documents in a
	// directory.
	Entry string `json:"entry"`
	// Config is the state of the entry, and Joint that of the keys that several keys decide together.
	Config State `json:"config,omitempty"`
	Joint  State `json:"joint,omitempty"`
	// Identities are the identities that the service sees.
	Identities map[string]string   `json:"identities,omitempty"`
	Overlays   []string            `json:"overlays,omitempty"` // digests of the locations, in their order
	ScopeMap   map[string][]string `json:"scope_map,omitempty"`
	Include    string              `json:"include,omitempty"`
	Exclude    []string            `json:"exclude,omitempty"`
	Rules      []Rule              `json:"rules,omitempty"`
}

// jointAPI is the part of an API that several keys decide together, with the rules of keys. opens is the report.
type jointAPI struct {
	Slashes     []string `yaml:"slashes" access:"grants" opens:"slash_parameters lets arguments lead to more paths"`
	NoSlashes   []string `yaml:"no_slashes" access:"restricts" opens:"slash_parameters rejects fewer slashes, so arguments may lead to more paths"`
	PassHeaders []string `yaml:"pass_headers" access:"grants" opens:"pass_headers passes on more of the caller's headers"`
	Dropped     []string `yaml:"dropped" access:"restricts" opens:"drop_arguments lets more arguments through to the service"`
	Proxy       string   `yaml:"proxy" access:"grants" opens:"proxy lets calls go through another proxy"`
	SpecProxy   string   `yaml:"spec_proxy" access:"grants" opens:"spec_proxy has the document fetched through another proxy"`
	Unchecked   bool     `yaml:"unchecked" access:"grants" opens:"proxy.resolve leaves the addresses of services unchecked"`
	Bounded     bool     `yaml:"bounded" access:"restricts" opens:"allow_addresses does not bound any more where calls go"`
}

func apiOf(c *config.Config, api *config.API) API {
	entry := api.Spec.String()
	if api.FromDirectory() {
		entry = filepath.Dir(entry)
	}
	a := API{
		Name: api.Name, Spec: digest(api.Spec.String()), Entry: digest(entry), Config: stateOf(reflect.ValueOf(api).Elem()),
		Joint: stateOf(reflect.ValueOf(jointAPIOf(c, api))), Identities: identitiesOf(api), ScopeMap: api.ScopeMap, Include: encode(api.Tools.Include),
	}
	for _, overlay := range api.Overlays {
		a.Overlays = append(a.Overlays, digest(overlay.String()))
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

func jointAPIOf(c *config.Config, api *config.API) jointAPI {
	j := jointAPI{
		PassHeaders: passedHeaders(api.PassHeaders), Proxy: proxyOf(api.Proxy), SpecProxy: proxyOf(api.SpecProxy),
		Unchecked: api.Proxy.ResolvesNames() || api.SpecProxy.ResolvesNames(), Bounded: len(api.AllowAddresses) > 0,
	}
	j.Dropped, _ = c.DroppedArguments(api)
	for _, p := range api.SlashParameters {
		switch p.As {
		case config.SlashRejected:
			j.NoSlashes = append(j.NoSlashes, p.Name)
		case config.SlashRaw:
			j.Slashes = append(j.Slashes, p.Name)
		default:
			j.Slashes = append(j.Slashes, p.Name+" "+string(p.As))
		}
	}
	return j
}

// passedHeaders returns the headers that are passed through, with the names that the service gets.
func passedHeaders(headers []config.PassedHeader) (names []string) {
	for _, h := range headers {
		names = append(names, h.From+" "+h.To)
	}
	return names
}

// serviceAPIOf summarizes what the APIs of a provider have in common, under a location that no API has.
func serviceAPIOf(c *config.Config, d *config.Discovery) API {
	shared, sent := d.Settings()
	shared.Spec = config.Location("discovery:" + d.Name)
	a := apiOf(c, &shared)
	var passed []string
	for i := range sent {
		match := " to " + encode(d.Credentials[i].Match)
		for key, identity := range identitiesOf(&sent[i]) {
			a.Identities[key+match] = identity
		}
		for _, header := range passedHeaders(sent[i].PassHeaders) {
			passed = append(passed, header+match)
		}
	}
	if len(passed) > 0 {
		a.Joint["pass_headers"] = passed
	}
	return a
}

func (a API) equal(other API) bool { return string(encoded(a)) == string(encoded(other)) }
func (a API) same(other API) bool  { return a.Name == other.Name && a.Spec == other.Spec }

// baseURL returns a digest of the base URL; "" if the API has none.
func (a API) baseURL() string { return strings.Join(a.Config["base_url"], "") }

func (w *comparison) apis(documents func(i int) *Document) {
	old, new := w.old, w.new
	known := slices.Concat(old.APIs, old.Gone)
	document := func(i int) *Document {
		if documents == nil {
			return nil
		}
		return documents(i)
	}
	baselines := baselinesOf(old, new, func(i int) bool { d := document(i); return d != nil && d.OtherService })
	for i, n := range new.APIs {
		key := "apis: " + cmp.Or(n.Name, "one without name")
		switch {
		case len(baselines[i]) > 0:
			for _, o := range baselines[i] {
				w.api(key, o, &n, document(i))
			}
		case n.Name != "" && slices.ContainsFunc(known, func(o API) bool { return o.Name == n.Name }):
			w.when(!inEntry(old.APIs, n), key, "the document is another, so its operations can't be compared")
		case slices.ContainsFunc(old.APIs, func(o API) bool { return !inEntry(new.APIs, o) }):
			w.when(!inEntry(old.APIs, n), key, "it comes in the place of another, and nothing tells whether its tools are the same")
		}
	}
}

// baselinesOf returns the old APIs that each new API is compared with: the one with the same name
// and document, else the renamed one with the same document. An API whose document had several
// entries is compared with each of them; removed entries are used only if there are no others. An
// additional API with a base URL of its own is a new one: the document describes another service.
func baselinesOf(old, new *Summary, otherService func(i int) bool) [][]*API {
	known := slices.Concat(old.APIs, old.Gone)
	type entry struct {
		API
		gone bool
	}
	var before, after []entry
	for i, a := range known {
		before = append(before, entry{a, i >= len(old.APIs)})
	}
	for _, a := range new.APIs {
		after = append(after, entry{API: a})
	}
	succeeds, _ := Pair(before, after, func(o, n entry) bool { return o.equal(n.API) }, func(o, n entry) bool { return o.same(n.API) },
		func(o, n entry) bool { return !o.gone && o.Spec == n.Spec })
	baselines := make([][]*API, len(new.APIs))
	for i, at := range succeeds {
		if at >= 0 {
			baselines[i] = []*API{&known[at]}
			continue
		}
		for at := range known {
			if is, was := new.APIs[i].baseURL(), known[at].baseURL(); is != "" && is != was && (was != "" || otherService(i)) {
				continue
			}
			if known[at].Spec == new.APIs[i].Spec && (len(baselines[i]) == 0 || !before[at].gone) {
				baselines[i] = append(baselines[i], &known[at])
			}
		}
	}
	return baselines
}

// inEntry reports whether one of the APIs has the same entry of the file: documents of a directory
// come and go.
func inEntry(all []API, a API) bool {
	return slices.ContainsFunc(all, func(o API) bool { return o.Entry == a.Entry })
}

// api compares an API with the one that it was.
func (w *comparison) api(key string, o, n *API, d *Document) {
	w.section(reflect.TypeFor[config.API](), place{path: "apis", prefix: key + ": "}, o.Config, n.Config)
	w.section(reflect.TypeFor[jointAPI](), place{path: "joint.apis", prefix: key + ": "}, o.Joint, n.Joint)
	w.identities(key, o.Identities, n.Identities)
	kept := len(n.Overlays) >= len(o.Overlays) && slices.Equal(n.Overlays[:len(o.Overlays)], o.Overlays)
	w.when(!kept, key, "overlays lacks one, or has them in another order, so what they removed may be there again")
	w.when(kept && n.Config.has("trust_extensions") && len(n.Overlays) > len(o.Overlays), key, "overlays has a new one, which with trust_extensions decides on restrictions")
	const fromDocument = "scopes_from_document"
	w.when(w.tokens() && o.Config.has(fromDocument) && n.Config.has(fromDocument) && !maps.EqualFunc(o.ScopeMap, n.ScopeMap, slices.Equal) &&
		!mapsAsStrictly(n.ScopeMap, o.ScopeMap, w.old.Implied), key, "scope_map is another, so calls may need other scopes")
	w.restrictions(key, o, n, d)
}
