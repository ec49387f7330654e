package auth

import (
	"cmp"
	"fmt"
	"slices"
)

// Endpoint is a resource that the gateway serves besides Options.Resource. A
// token for one of them is good for no other, unless the issuer's audiences are configured.
type Endpoint struct {
	// Resource is its resource identifier.
	Resource string
	// DefaultScopes stand in the place of Options.DefaultScopes. Empty: those count.
	DefaultScopes []string
}

// Endpoint returns the guard of Options.Endpoints[n]. It shares keys, caches and
// limits with g, whose Run serves all.
func (g *Guard) Endpoint(n int) *Guard { return g.endpoints[n] }

// newEndpoints makes the guards of the endpoints. Each has its own metadata,
// challenges and target of proofs; who verifies is the same.
func (g *Guard) newEndpoints(o Options) error {
	if len(o.Endpoints) == 0 {
		return nil
	}
	known := []string{canonicalAudience(o.Resource)}
	g.own = g.ownAudience(o.Resource)
	for _, e := range o.Endpoints {
		if slices.Contains(known, canonicalAudience(e.Resource)) {
			return fmt.Errorf("auth: resource identifier %q is listed twice", e.Resource)
		}
		known = append(known, canonicalAudience(e.Resource))
		own := *g
		own.endpoints = nil
		var err error
		if own.resource, err = parseResource(e.Resource); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		if err := checkScopes(e.DefaultScopes, nil); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		if len(e.DefaultScopes) > 0 {
			own.defaults = slices.Clone(e.DefaultScopes)
		}
		oe := o
		oe.Resource, oe.DefaultScopes, oe.Replays = e.Resource, own.defaults, cmp.Or(o.Replays, g.replays())
		if own.proofs, err = newProofs(oe, own.resource); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		own.challenges = newChallenges(own.metadataURL(), own.defaults, own.proofs)
		own.metadata = newMetadata(oe, own.proofs)
		own.own = g.ownAudience(e.Resource)
		g.endpoints = append(g.endpoints, &own)
	}
	return nil
}

// replays returns where proofs are remembered, nil if none are taken: one that
// was used at one endpoint is used everywhere.
func (g *Guard) replays() ReplayCache {
	if g.proofs == nil {
		return nil
	}
	return g.proofs.replays
}

// ownAudience is what a token must be for here, by issuers whose audiences are not configured.
func (g *Guard) ownAudience(resource string) map[*issuer]string {
	own := make(map[*issuer]string)
	for _, i := range g.issuers {
		if i.implied {
			own[i] = canonicalAudience(resource)
		}
	}
	return own
}

// isHere reports whether a verified token is for this endpoint and not for
// another one only. One without an audience was let in for its client.
func (g *Guard) isHere(v *verified) bool {
	here, ok := g.own[v.issuer]
	if !ok || len(v.audiences) == 0 {
		return true
	}
	return slices.ContainsFunc(v.audiences, func(a string) bool { return a == here || canonicalAudience(a) == here })
}
