package widening

import (
	"reflect"
	"slices"
	"strings"

	"drawbridge/config"
)

// Summary is what a configuration allows and restricts, by the tags access of its keys. It holds no secrets: locations and conditions
// are digests.
type Summary struct {
	// Keys are the paths of the keys that the version of the writer compares, with their rules and types. Others are unknown.
	Keys map[string]string `json:"keys"`
	// Config is the state of the configuration apart from auth and apis.
	Config State `json:"config"`
	// Auth is the state of auth; nil without auth in the configuration, or with auth.anonymous.
	Auth State `json:"auth"`
	// Anonymous reports that anonymous access is configured explicitly.
	Anonymous bool `json:"anonymous,omitempty"`
	// Joint is the state of the keys that several keys decide together.
	Joint State `json:"joint"`
	// Implied are the scopes that scopes imply.
	Implied map[string][]string `json:"implied,omitempty"`
	// Opaque reports of each issuer whether its tokens are opaque.
	Opaque map[string]bool `json:"opaque,omitempty"`
	// Clients are the digests of the certificates of the authorities of clients; nil if none is required.
	Clients []string `json:"clients,omitempty"`
	// Operators are the people that the console admits, and whether they may change what is served.
	Operators map[string]bool `json:"operators,omitempty"`
	// Exempt are the scopes whose holders need no consent.
	Exempt []string `json:"exempt,omitempty"`
	// OwnRates are the rates of certain principals, in their order.
	OwnRates []OwnRate `json:"own_rates,omitempty"`
	APIs     []API     `json:"apis"`
	// Held reports of each provider of services whether new services await an operator.
	Held map[string]bool `json:"held,omitempty"`
	// Gone are removed APIs with their restrictions: one that reappears is compared with its last version. So are prompts and
	// skills, under the name that the member had when there were only prompts.
	Gone        []API `json:"gone,omitempty"`
	GoneEntries State `json:"gone_prompts,omitempty"`
}

// maxGone is the maximum number of remembered APIs, and of entries of each of the remembered lists.
const maxGone = 256

// remembered are the lists whose removed entries are remembered.
var remembered = [...]string{"prompts", "skills"}

// Of summarizes a configuration. before is the summary of the preceding one, whose removed APIs are
// kept; nil if there is none.
func Of(c *config.Config, before *Summary) *Summary {
	s := &Summary{
		Keys: knownKeys(), Config: stateOf(reflect.ValueOf(c).Elem()), Joint: stateOf(reflect.ValueOf(jointOf(c))),
		Anonymous: c.Auth != nil && c.Auth.Anonymous, Clients: c.ClientAuthorities(), Operators: operators(&c.Admin), Exempt: c.Tools.UnconfirmedScopes,
		OwnRates: ownRatesOf(c), Held: map[string]bool{},
	}
	if guarded(c) {
		s.Auth, s.Implied = stateOf(reflect.ValueOf(c.Auth).Elem()), c.Auth.Implies
		s.Opaque = map[string]bool{}
		for i := range c.Auth.Issuers {
			is := &c.Auth.Issuers[i]
			s.Opaque[is.Issuer.String()] = is.Opaque()
		}
	}
	for i := range c.APIs {
		if !c.APIs[i].IsDiscovered() {
			s.APIs = append(s.APIs, apiOf(c, &c.APIs[i]))
		}
	}
	for i := range c.Discovery {
		d := &c.Discovery[i]
		s.Held[d.Name] = d.Holds()
		s.APIs = append(s.APIs, serviceAPIOf(c, d))
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
	s.GoneEntries = State{}
	for _, list := range remembered {
		s.GoneEntries.addEntries(list, before.Config, s.Config[list], maxGone)
		s.GoneEntries.addEntries(list, before.GoneEntries, s.Config[list], maxGone)
	}
}

// addEntries adds the entries of a list of another state that are neither there nor among some others, until there are most.
func (s State) addEntries(list string, from State, others []string, most int) {
	for _, name := range from[list] {
		if len(s[list]) == most {
			return
		}
		if slices.Contains(others, name) || slices.Contains(s[list], name) {
			continue
		}
		s[list] = append(slices.Clip(s[list]), name)
		for path, texts := range from {
			if strings.HasPrefix(path, entryPath(list, name)+".") {
				s[path] = texts
			}
		}
	}
}

// defaultScopes returns the scopes that calls need by default.
func (s *Summary) defaultScopes() []string { return s.Auth["default_scopes"] }

// confirms reports whether destructive tools need consent.
func (s *Summary) confirms() bool {
	return slices.Contains(s.Config["tools.confirm"], string(config.ConfirmDestructive))
}
