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
	// Alternates are its other resource identifiers, in the order of Options.Alternates.
	Alternates []string
	// DefaultScopes replace Options.DefaultScopes, unless empty.
	DefaultScopes []string
}

// identifiers returns all resource identifiers of the endpoint.
func (e *Endpoint) identifiers() []string {
	return append([]string{e.Resource}, e.Alternates...)
}

// allEndpoints returns the main endpoint and the others.
func (o *Options) allEndpoints() []Endpoint {
	return append([]Endpoint{{Resource: o.Resource, Alternates: o.Alternates}}, o.Endpoints...)
}

// Endpoint returns the guard of Options.Endpoints[n]. It shares keys, caches and limits with g,
// whose Run serves all.
func (g *Guard) Endpoint(n int) *Guard { return g.endpoints[n] }

// Alternate returns the guard of an endpoint under its identifier with index n: 0 is the resource
// itself, the alternates follow. It shares everything with g but metadata, challenges, and which
// tokens and DPoP proofs are for it.
func (g *Guard) Alternate(n int) *Guard {
	if n == 0 {
		return g
	}
	return g.alternates[n-1]
}

// addIdentifiers creates the guards of the endpoints and of all alternates.
func (g *Guard) addIdentifiers(o Options) error {
	if len(o.Endpoints)+len(o.Alternates) == 0 {
		return nil
	}
	all := o.allEndpoints()
	var known []string
	for _, e := range all {
		for _, identifier := range e.identifiers() {
			if slices.Contains(known, canonicalAudience(identifier)) {
				return fmt.Errorf("auth: resource identifier %q is listed twice", identifier)
			}
			known = append(known, canonicalAudience(identifier))
		}
	}
	for n, e := range all {
		main := g
		if n > 0 {
			var err error
			if main, err = g.withIdentifier(o, e, e.Resource); err != nil {
				return fmt.Errorf("auth: %w", err)
			}
		}
		for _, identifier := range e.Alternates {
			own, err := g.withIdentifier(o, e, identifier)
			if err != nil {
				return fmt.Errorf("auth: %w", err)
			}
			own.setAudiences(o, e, identifier, known)
			main.alternates = append(main.alternates, own)
		}
		main.setAudiences(o, e, e.Resource, known)
		if n > 0 {
			g.endpoints = append(g.endpoints, main)
		}
	}
	return nil
}

// withIdentifier returns a guard like g for an identifier of an endpoint. They differ in metadata,
// challenges and the target of DPoP proofs.
func (g *Guard) withIdentifier(o Options, e Endpoint, identifier string) (*Guard, error) {
	own := *g
	own.endpoints, own.alternates = nil, nil
	var err error
	if own.resource, err = parseResource(identifier); err != nil {
		return nil, err
	}
	if err := checkScopes(e.DefaultScopes, nil); err != nil {
		return nil, err
	}
	if len(e.DefaultScopes) > 0 {
		own.defaultScopes = slices.Clone(e.DefaultScopes)
	}
	o.Alternates = slices.DeleteFunc(e.identifiers(), func(other string) bool { return other == identifier })
	o.Resource, o.DefaultScopes, o.Replays = identifier, own.defaultScopes, cmp.Or(o.Replays, g.replays())
	if own.dpop, err = newProofVerifier(o, own.resource); err != nil {
		return nil, err
	}
	own.challenges = newChallenges(own.accepted(), own.metadataURL(), own.defaultScopes, own.dpop)
	own.metadata = newMetadata(o, own.dpop)
	return &own, nil
}

// replays returns the replay cache, nil if DPoP is off. All endpoints share it: a proof used at one
// endpoint is used everywhere.
func (g *Guard) replays() ReplayCache {
	if g.dpop == nil {
		return nil
	}
	return g.dpop.replays
}
