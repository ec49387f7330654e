package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Explanation tells an operator what a token or an API key is, and whether it is accepted here.
type Explanation struct {
	// APIKey reports that it is an API key. Client is the name of a known one, and Addresses are where it is accepted from.
	APIKey    bool
	Addresses []netip.Prefix
	// Opaque reports that the token is none whose claims can be read; all fields below but Reason, Advice and Accepted are those
	// that its issuer returned.
	Opaque              bool
	Algorithm, Key      string // of a JWT's header
	Type                string
	Issuer              string
	Subject, Client     string
	Audiences, Scopes   []string
	IssuedAt, NotBefore time.Time // zero if absent
	Expiry              time.Time
	// Bound reports that a request must prove possession of a key (DPoP).
	Bound bool
	// Accepted reports whether a request with the token is let in, if it has a proof where one is needed.
	Accepted bool
	// Reason is why it is not accepted, as the metrics and the log have it, and Advice what to do about it.
	Reason, Advice string
	// Principal is whom the token represents; nil if it is not accepted.
	Principal *Principal
}

// Explain examines a token as a request with it would be, and keeps nothing: neither the token nor the result is cached,
// counted or logged. An opaque token is sent to its issuer's introspection endpoint. text may begin with "Bearer ".
func (g *Guard) Explain(ctx context.Context, text string) *Explanation {
	text = strings.TrimSpace(text)
	if scheme, rest, found := strings.Cut(text, " "); found && (strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "DPoP")) {
		text = strings.TrimSpace(rest)
	}
	if isAPIKey(text) {
		return g.explainAPIKey(text)
	}
	e := &Explanation{Opaque: !isJOSE(text)}
	v, err := g.examine(ctx, text, e)
	isFor := func(own *Guard) bool { return own.isForThisEndpoint(v) }
	if err == nil && !isFor(g) && !slices.ContainsFunc(g.alternates, isFor) {
		err = v.issuer.reject("audience")
	}
	if err == nil {
		e.Accepted, e.Principal = true, v.principal
		e.Bound, e.Scopes = e.Bound || v.thumbprint != "", v.principal.Scopes
		if e.Opaque {
			e.Issuer, e.Subject, e.Client = v.principal.Issuer, v.principal.Subject, v.principal.ClientID
			e.Audiences, e.Expiry = v.audiences, v.principal.Expiry
		}
		return e
	}
	g.refuse(e, err)
	return e
}

// refuse sets why a token or key is not accepted.
func (g *Guard) refuse(e *Explanation, err error) {
	var rejected *rejection
	if e.Reason = "it could not be verified"; errors.As(err, &rejected) {
		e.Reason = rejected.reason
	}
	e.Advice = g.advice(e)
}

// explainAPIKey examines an API key, whatever the address of the caller.
func (g *Guard) explainAPIKey(text string) *Explanation {
	e := &Explanation{APIKey: true}
	if k := g.apiKeys[HashAPIKey(text)]; k != nil {
		p := k.principal
		e.Subject, e.Client, e.Scopes, e.Expiry, e.Addresses = p.Subject, p.ClientID, p.Scopes, p.Expiry, k.addresses
	}
	k, err := g.acceptedKey(credential{token: text}, g.now())
	if err != nil {
		g.refuse(e, err)
		return e
	}
	e.Accepted, e.Principal = true, k.principal
	return e
}

// examine verifies a token without a cache, and sets what can be read of it.
func (g *Guard) examine(ctx context.Context, text string, e *Explanation) (*verified, error) {
	switch {
	case len(text) > maxToken:
		return nil, reject("token too long")
	case !isToken68(text):
		return nil, reject("not a token: it has characters that none may have")
	case e.Opaque && g.opaqueIssuer == nil:
		return nil, reject("not a JWT")
	case e.Opaque:
		return g.introspectOnce(ctx, g.opaqueIssuer, text)
	}
	header, claims, err := parseToken(text)
	e.Algorithm, e.Key, e.Type = header.algorithm, header.key, header.kind
	e.Issuer, e.Subject, e.Client, e.Audiences, e.Scopes = claims.issuer, claims.subject, claims.client, claims.audiences, claims.scopes
	e.IssuedAt, e.NotBefore, e.Expiry, e.Bound = claims.issuedAt, claims.notBefore, claims.expiry, claims.bound
	if err != nil {
		return nil, err
	}
	if i := g.issuers[claims.issuer]; i != nil && i.introspector != nil {
		return g.introspectOnce(ctx, i, text)
	}
	return g.verify(ctx, credential{token: text}, g.now())
}

// introspectOnce asks the issuer about a token, and keeps no result.
func (g *Guard) introspectOnce(ctx context.Context, i *issuer, token string) (*verified, error) {
	endpoint := i.introspector.endpoint.Load()
	if endpoint == nil {
		if err := i.refresh(ctx, true); err != nil {
			return nil, err
		}
		if endpoint = i.introspector.endpoint.Load(); endpoint == nil {
			return nil, &rejection{outcome: unavailable, reason: "introspection endpoint is not known", issuer: i.url}
		}
	}
	result, err := g.introspectRemote(ctx, i, endpoint, token)
	if err != nil {
		return nil, err
	}
	return result.result()
}

// advice says what to do about a token that is rejected; "" if the reason says it all.
func (g *Guard) advice(e *Explanation) string {
	now := g.now()
	switch {
	case e.Reason == "unknown issuer":
		return "its iss is none of auth.issuers: " + strings.Join(g.issuerURLs(), ", ")
	case e.Reason == "unknown API key":
		return "its hash is none of auth.keys: it was replaced or revoked, or belongs to another gateway"
	case e.Reason == "malformed API key":
		return "characters are missing or wrong: compare it with the one that drawbridge key new printed"
	case e.Reason == "expired", e.Reason == "API key expired":
		return fmt.Sprintf("it expired %s ago: the client needs another one", now.Sub(e.Expiry).Round(time.Second))
	case e.Reason == "not active":
		return "it expired, or its issuer has revoked it: the client needs another one"
	case e.Reason == "not valid yet", e.Reason == "issued in the future":
		return "compare the clocks of the issuer and of this machine, or raise the issuer's skew"
	case e.Reason == "audience":
		return "its aud must have one of: " + strings.Join(g.audiencesOf(e.Issuer), ", ")
	case e.Reason == "directory":
		return "its tid is not the directory of its iss"
	case e.Reason == "algorithm not allowed":
		return "its alg is not among the issuer's algorithms"
	case e.Reason == "token type not accepted":
		return "its typ is not among the issuer's accept_typ; an ID token is no access token"
	case e.Reason == "not an access token":
		return "it is an ID token, a refresh token or the like: the client must send its access token"
	case e.Reason == "not a JWT":
		return "it is an opaque token, and no issuer has tokens: opaque"
	case e.Reason == "client", e.Reason == "no client":
		return "the issuer's client_ids or require_client let no token of this client in"
	}
	return ""
}

func (g *Guard) issuerURLs() (urls []string) {
	for url := range g.issuers {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	return urls
}
