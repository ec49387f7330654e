package auth

import (
	"context"
	"crypto/sha256"
)

// IsAccessToken reports whether text is, or may be, an access token or an API key for this gateway. Headers that are
// passed to services are checked with it: such a token must not reach a service (T1; MCP, security best
// practices, "Token Passthrough"). It does not introspect opaque tokens, because the text may be a
// credential of another service: an opaque token is recognized while its introspection result is
// cached, and a JWT of an issuer that introspects by its claims.
func (g *Guard) IsAccessToken(ctx context.Context, text string) bool {
	if len(text) > maxToken || !isToken68(text) {
		return false
	}
	if isAPIKey(text) {
		return g.apiKeys[HashAPIKey(text)] != nil
	}
	now := g.now()
	if g.cache.get(sha256.Sum256([]byte(text)), now) != nil {
		return true
	}
	if g.opaqueIssuer != nil {
		if g.opaqueIssuer.introspector.cached(text, now).verified != nil {
			return true
		}
		if !isJOSE(text) {
			return false
		}
	}
	_, claims, err := parseToken(text)
	if err != nil {
		return false
	}
	i := g.issuers[claims.issuer]
	switch {
	case i == nil:
		return false
	case i.introspector != nil:
		return i.checkClaims(&claims, now) == nil
	}
	_, err = g.verify(ctx, credential{token: text}, now)
	return err == nil || isUnavailable(err) // unavailable: it may be valid
}
