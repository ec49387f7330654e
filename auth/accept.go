package auth

import (
	"context"
	"crypto/sha256"
)

// Accepts reports whether a text is an access token that lets its bearer in
// here, or may be one. It is for texts that go to others, who must not get such
// a token (T1), so it asks no issuer about an opaque one: the text may be a
// credential of theirs. Opaque tokens are known while their answer is
// remembered, and JWTs that an issuer would be asked about by their claims.
func (g *Guard) Accepts(ctx context.Context, text string) bool {
	if len(text) > maxToken || !isToken68(text) {
		return false
	}
	now := g.now()
	if g.cache.get(sha256.Sum256([]byte(text)), now) != nil {
		return true
	}
	if g.opaque != nil {
		if g.opaque.asks.recall(text, now).good != nil {
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
	case i.asks != nil:
		return i.check(&claims, now) == nil
	}
	_, err = g.verify(ctx, credential{token: text}, now)
	return err == nil || isUnavailable(err) // then nobody knows
}
