package config

import (
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// maxServers is the most servers that the calls of an API are distributed to: each has a client of its own.
const maxServers = 100

// ServerVariable is the value of a variable of the document's servers. A text stands for a mapping with value alone.
type ServerVariable struct {
	// The value.
	Value string `yaml:"value,omitempty" absent:"claim or argument"`
	// The token claim that selects the value: a name or a JSON Pointer. A caller whose claim is none of allow is
	// rejected. Needs auth.
	Claim string `yaml:"claim,omitempty" absent:"value or argument" is:"claim" issuers:"needs auth.issuers: without tokens no caller has claims"`
	// Callers select the value by an argument with the name of the variable. It selects a server and keeps no callers
	// apart: all of them may choose each of allow.
	Argument bool `yaml:"argument,omitempty"`
	// The values that the claim or the argument may select, compared exactly.
	Allow []string `yaml:"allow,omitempty" absent:"required with claim and argument" empty:"list the values" unique:"%s is listed twice"`
	// The value for callers without the claim, such as those with an API key, or for calls without the argument; one of
	// allow. Without it they are rejected.
	Default string `yaml:"default,omitempty" absent:"calls without the claim or the argument are rejected"`
}

// isSelected reports whether callers have different values.
func (v *ServerVariable) isSelected() bool { return v.Claim != "" || v.Argument }

func (v *ServerVariable) short() short {
	return short{value: &v.Value, expects: "a text, or a mapping with value, or with claim or argument and allow"}
}

func (v *ServerVariable) validate(c cursor) {
	ways := 0
	for _, given := range []bool{v.Value != "", v.Claim != "", v.Argument} {
		if given {
			ways++
		}
	}
	switch {
	case c.faulty(""), !c.ok("value", "claim", "argument", "allow", "default"):
	case ways != 1:
		c.errorf("", "needs one of value, claim and argument")
	case !v.isSelected() && c.given("allow"):
		c.errorf("allow", "has no use without claim or argument")
	case !v.isSelected() && v.Default != "":
		c.errorf("default", "has no use without claim or argument")
	case v.Claim != "" && len(v.Allow) == 0:
		c.errorf("", "needs allow beside claim: the values that the claim may select, since no caller may make up a server")
	case v.Argument && len(v.Allow) == 0:
		c.errorf("", "needs allow beside argument: the values that callers may choose, since no caller may make up a server")
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

// ServerSelector is a claim, or an argument, that takes part in the selection of the server of a call.
type ServerSelector struct {
	Key     string   // below the API
	Claim   string   // "" for the argument with the name of the variable
	Allow   []string // the values, sorted
	Default string   // for calls without the claim or the argument; "" if they are rejected
}

// IsClaim reports whether a claim selects, and not an argument.
func (s ServerSelector) IsClaim() bool { return s.Claim != "" }

// Variable returns the name of the server variable that is selected; ok is false if it is the base URL.
func (s ServerSelector) Variable() (name string, ok bool) {
	return strings.CutPrefix(s.Key, "server_variables.")
}

// ServerSelectors returns the claims and arguments that select the server of a call, in a fixed order; none if all calls have the same server.
func (a *API) ServerSelectors() (all []ServerSelector) {
	if b := a.BaseURLs; b != nil {
		all = append(all, ServerSelector{"base_urls", b.Claim, slices.Sorted(maps.Keys(b.Allow)), b.Default})
	}
	for _, name := range slices.Sorted(maps.Keys(a.ServerVariables)) {
		if v := a.ServerVariables[name]; v != nil && v.isSelected() {
			all = append(all, ServerSelector{"server_variables." + name, v.Claim, slices.Sorted(slices.Values(v.Allow)), v.Default})
		}
	}
	return all
}

// Variables returns the values of server variables that are the same for all calls.
func (a *API) Variables() map[string]string {
	values := map[string]string{}
	for name, v := range a.ServerVariables {
		if v != nil && !v.isSelected() {
			values[name] = v.Value
		}
	}
	return values
}

// validateServers checks the selection of servers.
func (a *API) validateServers(c cursor) {
	if !c.ok("base_urls", "base_url", "server_variables") {
		return
	}
	servers := 1
	for _, s := range a.ServerSelectors() {
		if servers *= len(s.Allow); servers > maxServers {
			c.errorf(s.Key, "selects among more than %d servers, together with the others", maxServers)
			return
		}
		if s.Key != "base_urls" && a.BaseURL != nil {
			key := "base_url"
			if a.BaseURLs != nil {
				key = "base_urls"
			}
			c.errorf(s.Key, "selects among values that have no use: %s replaces the document's servers; base_urls with a claim selects one of several", key)
		}
	}
}
