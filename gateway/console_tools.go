package gateway

import (
	"context"
	"slices"

	"drawbridge/auth"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/console"
	"drawbridge/gateway/finder"
	"drawbridge/gateway/generation"
)

// toolSet is the tools of a generation, as the console shows them.
type toolSet struct{ gen *generation.Generation }

// consoleTools returns the tools that are served now; nil before the first API is served.
func (g *Gateway) consoleTools() console.ToolSet {
	if gen := g.current.Load(); gen != nil {
		return toolSet{gen}
	}
	return nil
}

// All implements [console.ToolSet].
func (s toolSet) All() []*catalog.Tool { return s.gen.Catalog.All() }

// Lookup implements [console.ToolSet].
func (s toolSet) Lookup(name string) *catalog.Tool { return s.gen.Catalog.Lookup(name) }

// Find implements [console.ToolSet].
func (s toolSet) Find(ctx context.Context, query string, limit int, allowed func(*catalog.Tool) bool) []*catalog.Tool {
	all := s.All()
	hits := s.gen.Finder.Find(ctx, finder.Query{Text: query, Limit: limit, Allowed: func(i int) bool { return allowed(all[i]) }}).Hits
	found := make([]*catalog.Tool, len(hits))
	for i, hit := range hits {
		found[i] = all[hit.Tool]
	}
	return found
}

// Fate implements [console.ToolSet].
func (s toolSet) Fate(t *catalog.Tool) admin.Fate {
	if t.Operation == nil { // a workflow
		return admin.Exposed
	}
	return s.gen.Reports[t.API].Fate(t.Operation)
}

// Scopes implements [console.ToolSet].
func (s toolSet) Scopes(t *catalog.Tool) [][]string {
	if s.gen.Main.Guard == nil {
		return nil
	}
	sets, _ := s.gen.Main.Tools[t.Name].Scopes()
	effective := make([][]string, len(sets))
	for i, set := range sets {
		if effective[i] = set; len(set) == 0 {
			effective[i] = s.gen.Config.Auth.DefaultScopes
		}
	}
	return effective
}

// Access implements [console.ToolSet].
func (s toolSet) Access(t *catalog.Tool) *admin.ToolAccess {
	if p := s.gen.ByTool[t.Name]; p != nil {
		return s.gen.Access(p)
	}
	return nil
}

// consoleTokens examines tokens with the guard of /mcp, for the console.
type consoleTokens struct{ served *served }

// Explain implements [console.Tokens].
func (s consoleTokens) Explain(ctx context.Context, token string) *auth.Explanation {
	gen := s.served.current.Load()
	if gen == nil || gen.Main.Guard == nil {
		return nil
	}
	return gen.Main.Guard.Explain(ctx, token)
}

// Allows implements [console.Tokens].
func (s consoleTokens) Allows(p *auth.Principal, sets [][]string) bool {
	gen := s.served.current.Load()
	if gen == nil || gen.Main.Guard == nil {
		return false
	}
	return slices.ContainsFunc(sets, func(set []string) bool { return gen.Main.Guard.Allows(p, set) })
}
