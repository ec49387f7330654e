package auth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/jsonscan"
)

// maxToken and maxTokenDepth limit a token before it is decoded (T8).
const (
	maxToken      = 16 << 10
	maxTokenDepth = 16
)

// verify verifies a JWT access token (RFC 9068 section 4, RFC 8725). All checks that need only the
// token come first, so that only a plausible token causes a network request (T5). A token that is
// not a JWS is introspected at the issuer of opaque tokens; a JWS never is unless its issuer says
// so (T14).
func (g *Guard) verify(ctx context.Context, c credential, now time.Time) (*verified, error) {
	if g.opaqueIssuer != nil && !isJOSE(c.token) {
		return g.introspect(ctx, g.opaqueIssuer, c, now)
	}
	header, claims, err := parseToken(c.token)
	if err != nil {
		return nil, err
	}
	i := g.issuers[claims.issuer]
	if i == nil {
		return nil, reject("unknown issuer")
	}
	if i.introspector != nil {
		if i.isIDToken(claims) { // some servers report their ID tokens as active
			return nil, i.reject("not an access token")
		}
		return g.introspect(ctx, i, c, now)
	}
	if err := i.checkHeader(header); err != nil {
		return nil, err
	}
	if err := i.checkClaims(&claims, now); err != nil {
		return nil, err
	}
	keys, err := i.verifySignature(ctx, c, header, claims.issuedAt, now)
	if err != nil {
		return nil, err
	}
	return g.newVerified(ctx, i, claims, keys, now), nil
}

// newVerified returns the verified token for claims that passed all checks.
func (g *Guard) newVerified(ctx context.Context, i *issuer, c claims, keys *keySet, now time.Time) *verified {
	i.warnLongLived(ctx, c, now)
	p := &Principal{
		Credential: CredentialOpaque,
		Issuer:     i.url,
		Subject:    c.subject,
		ClientID:   c.client,
		Scopes:     c.scopes,
		Expiry:     c.expiry,
		id:         identify(i.url, c.subject, c.client),
		bound:      c.thumbprint != "",
	}
	if i.introspector == nil {
		p.Credential, p.skew = CredentialJWT, i.skew
	}
	g.assignGroup(p, c.text)
	if g.keepClaims {
		p.claims = newClaimSet(c.text)
	}
	return &verified{
		principal: p, issuer: i, keys: keys, until: c.expiry.UnixNano(), thumbprint: c.thumbprint, audiences: c.audiences,
		size: sizeOf(len(c.text), g.keepClaims),
	}
}

// header is the part of a JOSE header that is used.
type header struct{ algorithm, key, kind string }

// claims is the part of a token's payload that is used.
type claims struct {
	text                        []byte // the whole payload
	issuer, subject, client     string
	hasAudience                 bool
	audiences                   []string
	scopes                      []string
	expiry, notBefore, issuedAt time.Time     // zero if absent
	otherKind                   bool          // the token declares itself an ID, refresh or logout token
	idTokenClaims               idTokenClaims // the ID token claims that it has
	bound                       bool          // it has "cnf", which requires proof of possession
	thumbprint                  string        // of the key, if "jkt" is the only member of "cnf"
}

// idTokenClaims is a set of claims that mark an ID token.
type idTokenClaims uint8

// Claims of OpenID Connect Core sections 2 and 3.3.2.11.
const (
	claimNonce idTokenClaims = 1 << iota
	claimTokenHash
	claimCodeHash
	claimStateHash
	allIDTokenClaims = claimNonce | claimTokenHash | claimCodeHash | claimStateHash
)

func idTokenClaim(claim string) idTokenClaims {
	switch claim {
	case "nonce":
		return claimNonce
	case "at_hash":
		return claimTokenHash
	case "c_hash":
		return claimCodeHash
	case "s_hash":
		return claimStateHash
	}
	return 0
}

// parseIDTokenClaims parses Issuer.IDTokenClaims.
func parseIDTokenClaims(names []string) (idTokenClaims, error) {
	if len(names) == 0 {
		return allIDTokenClaims, nil
	}
	var all idTokenClaims
	for _, name := range names {
		m := idTokenClaim(name)
		if m == 0 {
			return 0, fmt.Errorf("claim %q does not tell an ID token: nonce, at_hash, c_hash and s_hash do", name)
		}
		all |= m
	}
	return all, nil
}

// isJOSE reports whether a token has the form of a JWS or a JWE: three or five parts, the first of
// which begins as a JSON object with a member does. Such a token is never treated as opaque.
func isJOSE(token string) bool {
	if dots := strings.Count(token, "."); dots != 2 && dots != 4 {
		return false
	}
	first, _, _ := strings.Cut(token, ".")
	text, _ := base64.RawURLEncoding.DecodeString(first) // the part before an error counts
	const space = " \t\r\n"
	text, ok := bytes.CutPrefix(bytes.TrimLeft(text, space), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(text, space), []byte(`"`))
}

// decodeJWS decodes a JWS in compact serialization (RFC 7515 section 7.1) to header and payload,
// which are JSON objects.
func decodeJWS(token string) (head, payload []byte, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, reject("not a JWT") // JWE has five parts, an opaque token any number
	}
	var decoded [3][]byte
	for n, part := range parts {
		var err error
		if decoded[n], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || part == "" || strings.ContainsAny(part, "\r\n") {
			return nil, nil, reject("not base64url")
		}
	}
	for _, text := range decoded[:2] {
		if err := checkObject(text); err != nil {
			return nil, nil, err
		}
	}
	return decoded[0], decoded[1], nil
}

// checkObject checks the form of a JSON object from an untrusted source (T8).
func checkObject(text []byte) error {
	info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: maxTokenDepth, Unique: true})
	if err != nil || info.Kind != jsonscan.Object {
		return reject("not a JSON object with unique members")
	}
	return nil
}

// parseToken parses a token without verifying it.
func parseToken(token string) (header, claims, error) {
	var h header
	var c claims
	head, payload, err := decodeJWS(token)
	if err != nil {
		return h, c, err
	}
	if err := h.parse(head); err != nil {
		return h, c, err
	}
	return h, c, c.parse(payload)
}

// parse parses a JOSE header. Keys in the header are asserted by the sender alone, and critical
// extensions are unknown here (RFC 8725 section 3.10), so both are rejected.
func (h *header) parse(text []byte) error {
	for name, value := range jsonscan.Members(text) {
		var ok bool
		switch string(name) {
		case "alg":
			h.algorithm, ok = stringValue(value)
		case "kid":
			h.key, ok = stringValue(value)
		case "typ":
			h.kind, ok = stringValue(value)
		case "crit", "b64", "jwk", "jku", "x5u", "enc", "zip":
			return reject("header member that is not supported")
		default:
			ok = !isConfusable(name, "alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u", "enc", "zip")
		}
		if !ok {
			return reject("malformed header")
		}
	}
	return nil
}

// parse parses the payload.
func (c *claims) parse(text []byte) error {
	c.text = text
	var authorized, cid, app string
	for name, value := range jsonscan.Members(text) {
		ok := true
		switch string(name) {
		case "iss":
			c.issuer, ok = stringValue(value)
		case "sub":
			c.subject, ok = stringValue(value)
		case "client_id":
			c.client, ok = stringValue(value)
		case "azp":
			authorized, ok = stringValue(value)
		case "cid": // Okta
			cid, ok = stringValue(value)
		case "appid": // Entra ID, version 1.0
			app, ok = stringValue(value)
		case "aud":
			c.hasAudience = true
			c.audiences, ok = stringValues(value)
		case "exp":
			c.expiry, ok = numericDate(value)
		case "nbf":
			c.notBefore, ok = numericDate(value)
		case "iat":
			c.issuedAt, ok = numericDate(value)
		case "scope", "scp":
			c.scopes, ok = appendScopeClaim(c.scopes, value)
		case "cnf":
			c.bound = true
			c.thumbprint = keyThumbprint(value)
		case "nonce", "at_hash", "c_hash", "s_hash":
			c.idTokenClaims |= idTokenClaim(string(name))
		case "events": // logout and security event tokens
			c.otherKind = true
		case "token_use": // Cognito: access; Hydra and Dex, in introspection: access_token
			use, _ := stringValue(value)
			c.otherKind = c.otherKind || use != "access" && use != "access_token"
		case "typ": // Keycloak
			kind, _ := stringValue(value)
			c.otherKind = c.otherKind || slices.Contains(keycloakOtherTypes(), kind)
		default:
			ok = !isConfusable(name, "iss", "sub", "client_id", "azp", "cid", "appid", "aud", "exp", "nbf", "iat", "scope", "scp",
				"cnf", "nonce", "at_hash", "c_hash", "s_hash", "events", "token_use", "typ")
		}
		if !ok {
			return reject("malformed claim")
		}
	}
	c.client = cmp.Or(c.client, authorized, cid, app)
	return nil
}

// keycloakOtherTypes are the values of "typ" by which Keycloak marks tokens other than access
// tokens (TokenUtil and ClientRegistrationTokenUtils of its sources).
func keycloakOtherTypes() []string {
	return []string{"ID", "Serialized-ID", "Refresh", "Offline", "Logout", "logout+jwt", "InitialAccessToken", "RegistrationAccessToken"}
}

// keyThumbprint returns the member "jkt" of a confirmation (RFC 9449 section 6.1). It returns ""
// for a confirmation that also requires another proof, such as a certificate (RFC 8705 section 3),
// which DPoP can't satisfy.
func keyThumbprint(confirmation []byte) string {
	thumbprint := ""
	if jsonscan.KindOf(confirmation) != jsonscan.Object {
		return ""
	}
	for name, value := range jsonscan.Members(confirmation) {
		if string(name) != "jkt" {
			return ""
		}
		thumbprint, _ = stringValue(value)
	}
	return thumbprint
}

// isConfusable reports whether a member name differs from a known one only by case or surrounding
// control characters: another parser may take it for the known one (T8). A name with U+FFFD, which
// stands for each half of a surrogate pair, may be several names, as with [stringValue].
func isConfusable(name []byte, known ...string) bool {
	s := string(name)
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) {
		return true
	}
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(s, k) })
}

// stringValue returns the value of a JSON string. It returns false for a string with U+FFFD, which
// also stands for each half of a surrogate pair, so that different names never become equal.
func stringValue(value []byte) (string, bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return "", false
	}
	s := string(jsonscan.Unquote(value))
	return s, !strings.ContainsRune(s, utf8.RuneError)
}

// stringValues returns the values of a JSON string or array of strings.
func stringValues(value []byte) ([]string, bool) {
	if s, ok := stringValue(value); ok {
		return []string{s}, true
	}
	if jsonscan.KindOf(value) != jsonscan.Array {
		return nil, false
	}
	var list []string
	for e := range jsonscan.Elements(value) {
		s, ok := stringValue(e)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// numericDate reads a NumericDate (RFC 7519 section 2) of the years 1970 to 9999.
func numericDate(value []byte) (time.Time, bool) {
	const year9999 = 253402300799
	if jsonscan.KindOf(value) != jsonscan.Number {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(string(value), 64)
	if err != nil || seconds < 0 || seconds > year9999 {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}

// reject is [reject] with the issuer's name for the log.
func (i *issuer) reject(reason string) *rejection {
	return &rejection{outcome: badToken, reason: reason, issuer: i.url}
}

// checkHeader checks the header of a JWT against the rules of its issuer.
func (i *issuer) checkHeader(h header) error {
	switch {
	case !slices.Contains(i.algorithms, jose.SignatureAlgorithm(h.algorithm)):
		return i.reject("algorithm not allowed")
	case !slices.Contains(i.types, strings.ToLower(h.kind)):
		return i.reject("token type not accepted")
	}
	return nil
}

func (i *issuer) isIDToken(c claims) bool { return c.otherKind || c.idTokenClaims&i.idTokenMarks != 0 }

// checkClaims checks the claims of a token of any kind against the rules of their issuer, and reads
// the scopes from the configured claims.
func (i *issuer) checkClaims(c *claims, now time.Time) error {
	switch {
	case i.isIDToken(*c):
		return i.reject("not an access token")
	case c.bound && (i.dpop == DPoPOff || c.thumbprint == ""):
		return i.reject("bound to a key that was not proven") // RFC 9449 section 7.2, RFC 8705 section 3
	case !c.bound && i.dpop == DPoPRequire:
		return i.reject("not bound to a key")
	case c.subject == "" && c.client == "":
		return i.reject("neither subject nor client")
	case i.requireSub && c.subject == "":
		return i.reject("no subject")
	case i.requireClient && c.client == "":
		return i.reject("no client")
	case len(i.clientIDs) > 0 && !slices.Contains(i.clientIDs, c.client):
		return i.reject("client")
	case !slices.ContainsFunc(c.audiences, i.isAudience) && (c.hasAudience || len(i.clientIDs) == 0):
		return i.reject("audience")
	case i.directory != "" && !isOneOf(claimAt(c.text, "tid"), []string{i.directory}):
		return i.reject("directory")
	case c.expiry.IsZero():
		return i.reject("no expiry")
	case !now.Before(c.expiry.Add(i.skew)):
		return &rejection{outcome: expiredToken, reason: "expired", issuer: i.url}
	case now.Add(i.skew).Before(c.notBefore):
		return i.reject("not valid yet")
	case now.Add(i.skew).Before(c.issuedAt):
		return i.reject("issued in the future")
	case i.maxLifetime > 0 && c.lifetime(now) > i.maxLifetime:
		return i.reject("lives too long")
	}
	if i.scopeClaims != nil {
		var ok bool
		if c.scopes, ok = readScopes(c.text, i.scopeClaims); !ok {
			return i.reject("malformed claim")
		}
	}
	return nil
}

// lifetime is the time from "iat", or now if it is absent, to "exp".
func (c *claims) lifetime(now time.Time) time.Duration {
	if !c.issuedAt.IsZero() {
		now = c.issuedAt
	}
	return c.expiry.Sub(now)
}

// longLife is the lifetime beyond which a warning is logged (T7).
const longLife = 24 * time.Hour

// warnLongLived logs, once, that tokens live for days: they can be revoked only by removing their
// key.
func (i *issuer) warnLongLived(ctx context.Context, c claims, now time.Time) {
	if i.maxLifetime > 0 || i.introspector != nil || c.lifetime(now) <= longLife || i.longLived.Swap(true) {
		return
	}
	i.log.LogAttrs(ctx, slog.LevelWarn, "tokens of this issuer are long-lived; max_lifetime limits their lifetime",
		slog.String("issuer", i.url), slog.Duration("lifetime", c.lifetime(now)))
}

// publishedWithin is how long after a token's "iat" its key may still be missing from the published
// keys: some issuers, such as Entra ID, set "iat" back by five minutes, and key sets pass through
// caches.
const publishedWithin = 5 * time.Minute

// verifySignature returns the key set whose key made the signature. If no key fits, the keys are
// fetched once more, as there may be a new one (T10, T11), unless the token was issued well before
// the last fetch: its key was removed. "iat" may be forged, but then the token is invalid anyway.
// While the limit of these fetches is reached, that also goes for a token that was issued just
// before the last fetch, if its key was published earlier.
func (i *issuer) verifySignature(ctx context.Context, c credential, h header, at, now time.Time) (*keySet, error) {
	algorithm := jose.SignatureAlgorithm(h.algorithm)
	var jws *jose.JSONWebSignature // parsed only when there is a key to try, so that made-up keys cost nothing
	c.check.record(CheckSignature, i.url)
	failed := false // the fetch has failed, and there are stored keys
	for fetched := false; ; fetched = true {
		asOf := time.Unix(0, i.fetched.Load()) // before the keys are read: they may be newer, but not older
		keys := i.currentKeys(now)
		if keys != nil {
			for _, k := range keys.find(h.key, algorithm) {
				if jws == nil {
					var err error
					if jws, err = jose.ParseSignedCompact(c.token, []jose.SignatureAlgorithm{algorithm}); err != nil {
						return nil, &rejection{outcome: badToken, reason: "not a JWS", issuer: i.url}
					}
				}
				if _, err := jws.Verify(k.public); err == nil {
					return keys, nil
				}
			}
			if h.key != "" && keys.knows(h.key) {
				return nil, &rejection{outcome: badToken, reason: "signature", issuer: i.url}
			}
		}
		if failed {
			return nil, i.unreachable()
		}
		if fetched || keys != nil && !at.IsZero() && asOf.After(at.Add(publishedWithin+i.skew)) {
			return nil, &rejection{outcome: badToken, reason: "unknown key", issuer: i.url}
		}
		if err := i.refresh(ctx, true); err != nil {
			var rejected *rejection
			if errors.As(err, &rejected) {
				if keys != nil && slices.Contains(keys.withdrawn, h.key) && !at.IsZero() && at.Before(asOf) {
					// A 503 would keep the client from requesting another token.
					return nil, &rejection{outcome: badToken, reason: "unknown key", issuer: i.url}
				}
				return nil, rejected
			}
			c.check.record(CheckKeys, i.url)
			if failed = keys == nil && i.currentKeys(now) != nil; failed {
				continue
			}
			return nil, i.unreachable()
		}
		c.check.record(CheckKeys, i.url)
	}
}

// unreachable is the error of a token whose key can't be fetched.
func (i *issuer) unreachable() error {
	return &rejection{outcome: unavailable, reason: "keys can't be fetched", issuer: i.url, retryAfter: bucketRefill}
}
