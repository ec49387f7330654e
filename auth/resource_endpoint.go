package auth

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
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
	own.challenges = newChallenges(own.metadataURL(), own.defaultScopes, own.dpop)
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

// setAudiences sets the audiences that tokens need at an identifier of an endpoint, and those of the
// gateway's other names, of which all are the canonical identifiers.
func (g *Guard) setAudiences(o Options, e Endpoint, identifier string, all []string) {
	here := []string{canonicalAudience(identifier)}
	if o.SharedAudience {
		here = here[:0]
		for _, each := range e.identifiers() {
			here = append(here, canonicalAudience(each))
		}
	} else {
		g.foreignAudiences = nil
		for _, each := range all {
			if !sameHost(each, identifier) {
				g.foreignAudiences = append(g.foreignAudiences, each)
			}
		}
	}
	g.requiredAudience = make(map[*issuer][]string)
	for _, i := range g.issuers {
		if i.impliedAudiences {
			g.requiredAudience[i] = here
		}
	}
}

// sameHost reports whether two resource identifiers have the same scheme, host and port: those of
// the endpoints that a public URL has.
func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}

// isForThisEndpoint reports whether a verified token is for this identifier of this endpoint, and
// not only for another one. A token without an audience was accepted for its client.
func (g *Guard) isForThisEndpoint(v *verified) bool {
	if len(v.audiences) == 0 {
		return true
	}
	if here, implied := g.requiredAudience[v.issuer]; implied {
		return slices.ContainsFunc(v.audiences, func(a string) bool {
			return slices.Contains(here, a) || slices.Contains(here, canonicalAudience(a))
		})
	}
	if len(g.foreignAudiences) == 0 {
		return true // one of the issuer's audiences, which hold everywhere
	}
	return slices.ContainsFunc(v.audiences, func(a string) bool {
		return v.issuer.isAudience(a) && !slices.Contains(g.foreignAudiences, canonicalAudience(a))
	})
}
