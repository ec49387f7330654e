package config

import (
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// maxServers is the most servers that the calls of an API are distributed to by claims: each has a client of its own.
const maxServers = 100

// ServerVariable is the value of a variable of the document's servers. A text stands for a mapping with value alone.
type ServerVariable struct {
	// The value.
	Value string `yaml:"value,omitempty" absent:"claim"`
	// The token claim that selects the value: a name or a JSON Pointer. A caller whose claim is none of allow is
	// rejected. Needs auth.
	Claim string `yaml:"claim,omitempty" absent:"value" is:"claim" issuers:"needs auth.issuers: without tokens no caller has claims"`
	// The values that the claim may select, compared exactly.
	Allow []string `yaml:"allow,omitempty" absent:"required with claim" empty:"list the values of the claim" unique:"%s is listed twice"`
	// The value for callers without the claim, such as those with an API key; one of allow. Without it they are
	// rejected.
	Default string `yaml:"default,omitempty" absent:"callers without the claim are rejected" needs:"claim"`
}

func (v *ServerVariable) short() short {
	return short{value: &v.Value, expects: "a text, or a mapping with value, or with claim and allow"}
}

func (v *ServerVariable) validate(c cursor) {
	switch {
	case c.faulty(""), !c.ok("value", "claim", "allow", "default"):
	case (v.Value == "") == (v.Claim == ""):
		c.errorf("", "needs one of value and claim")
	case v.Claim == "" && c.given("allow"):
		c.errorf("allow", "has no use without claim")
	case v.Claim != "" && len(v.Allow) == 0:
		c.errorf("", "needs allow beside claim: the values that the claim may select, since no caller may make up a server")
	case v.Default != "" && !slices.Contains(v.Allow, v.Default):
		c.errorf("default", "%s is not listed in allow", quote(v.Default))
	}
}

// BaseURLs are base URLs of which a claim of the caller selects one.
type BaseURLs struct {
	// The token claim that selects the base URL: a name or a JSON Pointer. A caller whose claim is none of allow is
	// rejected.
	Claim string `yaml:"claim" required:"true" is:"claim" issuers:"needs auth.issuers: without tokens no caller has claims"`
	// The base URLs by the values of the claim, which are compared exactly.
	Allow map[string]URL `yaml:"allow" required:"true" empty:"list the values of the claim with their base URLs"`
	// The value whose base URL is for callers without the claim, such as those with an API key. Without it they are
	// rejected.
	Default string `yaml:"default,omitempty" absent:"callers without the claim are rejected"`
}

func (b *BaseURLs) validate(c cursor) {
	certified := enclosing[API](c).ClientCertificate != nil
	for _, name := range slices.Sorted(maps.Keys(b.Allow)) {
		if u := b.Allow[name]; certified && c.ok("allow."+name) && u.parsed.Scheme != "https" {
			c.errorf("allow."+name, "must be https: client_certificate is for all of base_urls")
		}
	}
	if _, ok := b.Allow[b.Default]; b.Default != "" && !ok && c.ok("allow", "default") {
		c.errorf("default", "%s is not listed in allow", quote(b.Default))
	}
}

// first returns the base URL that stands for all where one is needed: for the document, and in reports.
func (b *BaseURLs) first() *URL {
	for _, name := range slices.Concat([]string{b.Default}, slices.Sorted(maps.Keys(b.Allow))) {
		if u, ok := b.Allow[name]; ok && u.parsed != nil {
			return &u
		}
	}
	return nil
}

// HasOrigin reports whether one of the base URLs has an origin. The receiver may be nil.
func (b *BaseURLs) HasOrigin(of origin.Origin) bool {
	if b == nil {
		return false
	}
	for _, u := range b.Allow {
		if at, ok := origin.Parse(u.raw); ok && at == of {
			return true
		}
	}
	return false
}

// ServerSelector is a claim that takes part in the selection of the server of a call.
type ServerSelector struct {
	Key     string // below the API
	Claim   string
	Allow   []string // its values, sorted
	Default string   // for callers without the claim; "" if they are rejected
}

// Variable returns the name of the server variable that is selected; ok is false if it is the base URL.
func (s ServerSelector) Variable() (name string, ok bool) {
	return strings.CutPrefix(s.Key, "server_variables.")
}

// ServerSelectors returns the claims that select the server of a call, in a fixed order; none if all callers have the same server.
func (a *API) ServerSelectors() (all []ServerSelector) {
	if b := a.BaseURLs; b != nil {
		all = append(all, ServerSelector{"base_urls", b.Claim, slices.Sorted(maps.Keys(b.Allow)), b.Default})
	}
	for _, name := range slices.Sorted(maps.Keys(a.ServerVariables)) {
		if v := a.ServerVariables[name]; v != nil && v.Claim != "" {
			all = append(all, ServerSelector{"server_variables." + name, v.Claim, slices.Sorted(slices.Values(v.Allow)), v.Default})
		}
	}
	return all
}

// Variables returns the values of server variables that are the same for all callers.
func (a *API) Variables() map[string]string {
	values := map[string]string{}
	for name, v := range a.ServerVariables {
		if v != nil && v.Claim == "" {
			values[name] = v.Value
		}
	}
	return values
}

// validateServers checks the selection of servers by claims.
func (a *API) validateServers(c cursor) {
	if !c.ok("base_urls", "base_url", "server_variables") {
		return
	}
	servers := 1
	for _, s := range a.ServerSelectors() {
		if servers *= len(s.Allow); servers > maxServers {
			c.errorf(s.Key, "selects among more than %d servers, together with the other claims", maxServers)
			return
		}
		if s.Key != "base_urls" && a.BaseURL != nil {
			key := "base_url"
			if a.BaseURLs != nil {
				key = "base_urls"
			}
			c.errorf(s.Key, "has a claim and no use: %s replaces the document's servers; base_urls with a claim selects one of several", key)
		}
	}
}
