package source

import (
	"testing"

	"drawbridge/config"
)

// TestSimilarSource checks that a compiled document is served until it is reloaded only under a configuration that
// compiles it to the same result.
func TestSimilarSource(t *testing.T) {
	key := func(name string) *config.Credential {
		return &config.Credential{Type: config.CredentialAPIKey, In: "query", Name: name, Value: config.NewSecret("secret")}
	}
	api, limits := config.API{Spec: "a.yaml", HTML: config.HTMLRaw, Credential: key("key")}, config.Limits{MaxDepth: 64, MaxSchema: 1 << 16, MaxCalls: 9}
	set := &Set{Sources: []*Source{{Config: api, Limits: limits}}}
	for name, c := range map[string]struct {
		change func(*config.API, *config.Limits)
		kept   bool
	}{
		"nothing":            {func(*config.API, *config.Limits) {}, true},
		"html":               {func(a *config.API, _ *config.Limits) { a.HTML = config.HTMLText }, false},
		"depth of arguments": {func(_ *config.API, l *config.Limits) { l.MaxDepth = 32 }, false},
		"size of schemas":    {func(_ *config.API, l *config.Limits) { l.MaxSchema = 1 << 15 }, false},
		"calls":              {func(_ *config.API, l *config.Limits) { l.MaxCalls = 8 }, true},
		"timeout":            {func(a *config.API, _ *config.Limits) { a.Timeout = 1 }, true},
		"secret of the credential": {func(a *config.API, _ *config.Limits) {
			a.Credential = key("key")
			a.Credential.Value = config.NewSecret("another")
		}, true},
		"parameter of the credential":   {func(a *config.API, _ *config.Limits) { a.Credential = key("another") }, false},
		"header that is passed":         {func(a *config.API, _ *config.Limits) { a.PassHeaders = []config.PassedHeader{{From: "X-A", To: "X-A"}} }, false},
		"servers that calls may go to":  {func(a *config.API, _ *config.Limits) { a.AllowServers = []config.Origin{"https://a.test"} }, false},
		"addresses that they may be at": {func(a *config.API, _ *config.Limits) { a.AllowAddresses = make([]config.Network, 1) }, true},
		"operations that become a tool": {func(a *config.API, _ *config.Limits) { a.Tools.Include = make(config.Selectors, 1) }, true},
		"credential of the document":    {func(a *config.API, _ *config.Limits) { a.SpecCredential = key("another") }, true},
		"identity in a header":          {func(a *config.API, _ *config.Limits) { a.Identity = &config.APIIdentity{Header: "X-Caller"} }, false},
		"document":                      {func(a *config.API, _ *config.Limits) { a.Spec = "b.yaml" }, false},
	} {
		other, bounds := api, limits
		c.change(&other, &bounds)
		if kept := set.Similar(other, bounds) != nil; kept != c.kept {
			t.Errorf("another %s: kept: %t, want %t", name, kept, c.kept)
		}
	}
}
