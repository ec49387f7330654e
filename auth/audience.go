package auth

import (
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

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

func (i *issuer) isAudience(a string) bool {
	return slices.Contains(i.audiences, a) || slices.Contains(i.audiences, canonicalAudience(a))
}

// canonicalAudience lowers scheme and host, the only parts in which equal identifiers may differ
// (T2); path, port and trailing slash are significant. Identifiers are not compared by origin: an
// explicit default port makes a different one.
func canonicalAudience(a string) string {
	scheme, rest, ok := strings.Cut(a, "://")
	if !ok {
		return a
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return origin.Lower(scheme) + "://" + origin.Lower(rest[:end]) + rest[end:]
}

// audiencesOf returns the accepted audiences of an issuer at this endpoint.
func (g *Guard) audiencesOf(issuer string) []string {
	i := g.issuers[issuer]
	if i == nil {
		return nil
	}
	if here, ok := g.requiredAudience[i]; ok {
		return here
	}
	return slices.DeleteFunc(slices.Clone(i.audiences), func(a string) bool { return slices.Contains(g.foreignAudiences, a) })
}
