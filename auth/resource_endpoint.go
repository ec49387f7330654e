package auth

import (
	"cmp"
	"fmt"
	"slices"
)

// Endpoint is a resource that the gateway serves besides Options.Resource. A token for one resource
// is not accepted at another, unless the issuer's audiences are configured.
type Endpoint struct {
	// Resource is its resource identifier.
	Resource string
	// DefaultScopes replace Options.DefaultScopes, unless empty.
	DefaultScopes []string
}

// Endpoint returns the guard of Options.Endpoints[n]. It shares keys, caches and limits with g,
// whose Run serves all.
func (g *Guard) Endpoint(n int) *Guard { return g.endpoints[n] }

// newEndpoints creates the guards of the endpoints. They differ in metadata, challenges and the
// target of DPoP proofs.
func (g *Guard) newEndpoints(o Options) error {
	if len(o.Endpoints) == 0 {
		return nil
	}
	known := []string{canonicalAudience(o.Resource)}
	g.requiredAudience = g.audienceByIssuer(o.Resource)
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
			own.defaultScopes = slices.Clone(e.DefaultScopes)
		}
		oe := o
		oe.Resource, oe.DefaultScopes, oe.Replays = e.Resource, own.defaultScopes, cmp.Or(o.Replays, g.replays())
		if own.dpop, err = newProofVerifier(oe, own.resource); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		own.challenges = newChallenges(own.metadataURL(), own.defaultScopes, own.dpop)
		own.metadata = newMetadata(oe, own.dpop)
		own.requiredAudience = g.audienceByIssuer(e.Resource)
		g.endpoints = append(g.endpoints, &own)
	}
	return nil
}

// replays returns the replay cache, nil if DPoP is off. All endpoints share it: a proof used at one
// endpoint is used everywhere.
func (g *Guard) replays() ReplayCache {
	if g.dpop == nil {
		return nil
	}
	return g.dpop.replays
}

// audienceByIssuer returns the audience that a token for the resource needs, by issuer with implied
// audiences.
func (g *Guard) audienceByIssuer(resource string) map[*issuer]string {
	own := make(map[*issuer]string)
	for _, i := range g.issuers {
		if i.impliedAudiences {
			own[i] = canonicalAudience(resource)
		}
	}
	return own
}

// isForThisEndpoint reports whether a verified token is for this endpoint and not only for another
// one. A token without an audience was accepted for its client.
func (g *Guard) isForThisEndpoint(v *verified) bool {
	here, ok := g.requiredAudience[v.issuer]
	if !ok || len(v.audiences) == 0 {
		return true
	}
	return slices.ContainsFunc(v.audiences, func(a string) bool { return a == here || canonicalAudience(a) == here })
}
