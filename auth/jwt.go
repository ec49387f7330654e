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

	"drawbridge/gateway/origin"
	"drawbridge/openapi/jsonscan"
)

// maxToken and maxTokenDepth limit a token before anything is decoded (T8).
const (
	maxToken      = 16 << 10
	maxTokenDepth = 16
)

// verify checks a JWT access token (RFC 9068 section 4, RFC 8725). Everything
// that can be decided from the token alone comes first, so that only a token
// that could be good causes a network call (T5). What is no JWS is for the
// issuer of opaque tokens; what is one stands or falls as one (T14).
func (g *Guard) verify(ctx context.Context, c credential, now time.Time) (*verified, error) {
	if g.opaque != nil && !isJOSE(c.token) {
		return g.ask(ctx, g.opaque, c, now)
	}
	header, claims, err := parseToken(c.token)
	if err != nil {
		return nil, err
	}
	i := g.issuers[claims.issuer]
	if i == nil {
		return nil, refuse("unknown issuer")
	}
	if i.asks != nil {
		if i.isIDToken(claims) { // some servers call their ID tokens active
			return nil, i.refuse("not an access token")
		}
		return g.ask(ctx, i, c, now)
	}
	if err := i.checkHeader(header); err != nil {
		return nil, err
	}
	if err := i.check(&claims, now); err != nil {
		return nil, err
	}
	keys, err := i.verifySignature(ctx, c, header, claims.at, now)
	if err != nil {
		return nil, err
	}
	return g.admit(ctx, i, claims, keys, now), nil
}

// admit makes the principal of claims that passed all checks.
func (g *Guard) admit(ctx context.Context, i *issuer, c claims, keys *keySet, now time.Time) *verified {
	i.noteLifetime(ctx, c, now)
	p := &Principal{
		Issuer:   i.url,
		Subject:  c.subject,
		ClientID: c.client,
		Scopes:   c.scopes,
		Expiry:   c.expiry,
		id:       identify(i.url, c.subject, c.client),
		bound:    c.thumbprint != "",
	}
	if i.asks == nil {
		p.skew = i.skew
	}
	g.join(p, c.text)
	if g.keepClaims {
		p.claims = newClaimSet(c.text)
	}
	return &verified{
		principal: p, issuer: i, keys: keys, until: c.expiry.UnixNano(), thumbprint: c.thumbprint, audiences: c.audiences,
		size: sizeOf(len(c.text), g.keepClaims),
	}
}

// header is what the gateway reads of a JOSE header.
type header struct{ algorithm, key, kind string }

// claims is what the gateway reads of a token's payload.
type claims struct {
	text                    []byte // all of them
	issuer, subject, client string
	hasAudience             bool
	audiences               []string
	scopes                  []string
	expiry, notBefore, at   time.Time // zero: absent
	identity                bool      // it says that it is an ID, refresh or logout token
	marks                   marks     // it has claims of an ID token
	bound                   bool      // "cnf": only with proof of possession
	thumbprint              string    // of the key, if "cnf" is "jkt" and nothing else
}

// marks are claims that tell an ID token.
type marks uint8

// The claims of OpenID Connect Core sections 2 and 3.3.2.11.
const (
	markNonce marks = 1 << iota
	markTokenHash
	markCodeHash
	markStateHash
	allMarks = markNonce | markTokenHash | markCodeHash | markStateHash
)

func markOf(claim string) marks {
	switch claim {
	case "nonce":
		return markNonce
	case "at_hash":
		return markTokenHash
	case "c_hash":
		return markCodeHash
	case "s_hash":
		return markStateHash
	}
	return 0
}

// parseMarks reads Issuer.IDTokenClaims.
func parseMarks(names []string) (marks, error) {
	if len(names) == 0 {
		return allMarks, nil
	}
	var all marks
	for _, name := range names {
		m := markOf(name)
		if m == 0 {
			return 0, fmt.Errorf("claim %q does not tell an ID token: nonce, at_hash, c_hash and s_hash do", name)
		}
		all |= m
	}
	return all, nil
}

// isJOSE reports whether a token is meant to be a JWS or a JWE: whether it has
// three parts or five, and the first begins as a JSON object with a member does.
// Such a token is never taken for an opaque one.
func isJOSE(token string) bool {
	if dots := strings.Count(token, "."); dots != 2 && dots != 4 {
		return false
	}
	first, _, _ := strings.Cut(token, ".")
	text, _ := base64.RawURLEncoding.DecodeString(first) // what stands before an error counts
	const space = " \t\r\n"
	text, ok := bytes.CutPrefix(bytes.TrimLeft(text, space), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(text, space), []byte(`"`))
}

// decodeJWS takes a JWS in compact serialization (RFC 7515 section 7.1) apart:
// header and payload, which are JSON objects.
func decodeJWS(token string) (head, payload []byte, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, refuse("not a JWT") // JWE has five parts, an opaque token has any number
	}
	var decoded [3][]byte
	for n, part := range parts {
		var err error
		if decoded[n], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || part == "" || strings.ContainsAny(part, "\r\n") {
			return nil, nil, refuse("not base64url")
		}
	}
	for _, text := range decoded[:2] {
		if err := checkObject(text); err != nil {
			return nil, nil, err
		}
	}
	return decoded[0], decoded[1], nil
}

// checkObject checks the form of a JSON object that somebody else made (T8).
func checkObject(text []byte) error {
	info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: maxTokenDepth, Unique: true})
	if err != nil || info.Kind != jsonscan.Object {
		return refuse("not a JSON object with unique members")
	}
	return nil
}

// parseToken takes a token apart. It checks form, not truth.
func parseToken(token string) (header, claims, error) {
	var h header
	var c claims
	head, payload, err := decodeJWS(token)
	if err != nil {
		return h, c, err
	}
	if err := h.read(head); err != nil {
		return h, c, err
	}
	return h, c, c.read(payload)
}

// read reads a JOSE header. Keys in the header are the sender's word for
// itself, and critical extensions are ones that we do not know (RFC 8725 section 3.10).
func (h *header) read(text []byte) error {
	for name, value := range jsonscan.Members(text) {
		var ok bool
		switch string(name) {
		case "alg":
			h.algorithm, ok = text1(value)
		case "kid":
			h.key, ok = text1(value)
		case "typ":
			h.kind, ok = text1(value)
		case "crit", "b64", "jwk", "jku", "x5u", "enc", "zip":
			return refuse("header member that is not supported")
		default:
			ok = !isVariant(name, "alg", "kid", "typ", "crit", "b64", "jwk", "jku", "x5u", "enc", "zip")
		}
		if !ok {
			return refuse("malformed header")
		}
	}
	return nil
}

// read reads the payload.
func (c *claims) read(text []byte) error {
	c.text = text
	var authorized, cid, app string
	for name, value := range jsonscan.Members(text) {
		ok := true
		switch string(name) {
		case "iss":
			c.issuer, ok = text1(value)
		case "sub":
			c.subject, ok = text1(value)
		case "client_id":
			c.client, ok = text1(value)
		case "azp":
			authorized, ok = text1(value)
		case "cid": // Okta
			cid, ok = text1(value)
		case "appid": // Entra ID, version 1.0
			app, ok = text1(value)
		case "aud":
			c.hasAudience = true
			c.audiences, ok = texts(value)
		case "exp":
			c.expiry, ok = numericDate(value)
		case "nbf":
			c.notBefore, ok = numericDate(value)
		case "iat":
			c.at, ok = numericDate(value)
		case "scope", "scp":
			c.scopes, ok = appendScopeClaim(c.scopes, value)
		case "cnf":
			c.bound = true
			c.thumbprint = keyThumbprint(value)
		case "nonce", "at_hash", "c_hash", "s_hash":
			c.marks |= markOf(string(name))
		case "events": // logout and event tokens
			c.identity = true
		case "token_use": // Cognito: access; Hydra and Dex, in introspection: access_token
			use, _ := text1(value)
			c.identity = c.identity || use != "access" && use != "access_token"
		case "typ": // Keycloak
			kind, _ := text1(value)
			c.identity = c.identity || slices.Contains(keycloakOthers(), kind)
		default:
			ok = !isVariant(name, "iss", "sub", "client_id", "azp", "cid", "appid", "aud", "exp", "nbf", "iat", "scope", "scp",
				"cnf", "nonce", "at_hash", "c_hash", "s_hash", "events", "token_use", "typ")
		}
		if !ok {
			return refuse("malformed claim")
		}
	}
	c.client = cmp.Or(c.client, authorized, cid, app)
	return nil
}

// keycloakOthers are the values by which Keycloak says that a token is no access
// token (TokenUtil and ClientRegistrationTokenUtils of its sources).
func keycloakOthers() []string {
	return []string{"ID", "Serialized-ID", "Refresh", "Offline", "Logout", "logout+jwt", "InitialAccessToken", "RegistrationAccessToken"}
}

// keyThumbprint returns the member "jkt" of a confirmation (RFC 9449 section
// 6.1). One that asks for another proof too, such as a certificate (RFC 8705
// section 3), can't be met by DPoP: then it returns "".
func keyThumbprint(confirmation []byte) string {
	thumbprint := ""
	if jsonscan.KindOf(confirmation) != jsonscan.Object {
		return ""
	}
	for name, value := range jsonscan.Members(confirmation) {
		if string(name) != "jkt" {
			return ""
		}
		thumbprint, _ = text1(value)
	}
	return thumbprint
}

// isVariant reports whether a member name differs from a known one only by case
// or by control characters around it: some parser behind or before us may take
// it for the known one (T8). A name with U+FFFD, which stands for each half of a
// surrogate pair, may be several names, as with [text1].
func isVariant(name []byte, known ...string) bool {
	s := string(name)
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) {
		return true
	}
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(s, k) })
}

// text1 returns the value of a JSON string. One with U+FFFD is none: that also
// stands for each half of a surrogate pair, and two names must not become one.
func text1(value []byte) (string, bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return "", false
	}
	s := string(jsonscan.Unquote(value))
	return s, !strings.ContainsRune(s, utf8.RuneError)
}

// texts returns the values of a JSON string or array of strings.
func texts(value []byte) ([]string, bool) {
	if s, ok := text1(value); ok {
		return []string{s}, true
	}
	if jsonscan.KindOf(value) != jsonscan.Array {
		return nil, false
	}
	var list []string
	for e := range jsonscan.Elements(value) {
		s, ok := text1(e)
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

// refuse is [refuse] with the issuer's name for the log.
func (i *issuer) refuse(reason string) *refusal {
	return &refusal{outcome: badToken, reason: reason, issuer: i.url}
}

// checkHeader compares the header of a JWT with the rules of its issuer.
func (i *issuer) checkHeader(h header) error {
	switch {
	case !slices.Contains(i.algorithms, jose.SignatureAlgorithm(h.algorithm)):
		return i.refuse("algorithm not allowed")
	case !slices.Contains(i.types, strings.ToLower(h.kind)):
		return i.refuse("token type not accepted")
	}
	return nil
}

func (i *issuer) isIDToken(c claims) bool { return c.identity || c.marks&i.marks != 0 }

// check compares claims, of whatever kind of token, with the rules of their
// issuer, and reads the scopes that it puts elsewhere than others.
func (i *issuer) check(c *claims, now time.Time) error {
	switch {
	case i.isIDToken(*c):
		return i.refuse("not an access token")
	case c.bound && (i.dpop == DPoPOff || c.thumbprint == ""):
		return i.refuse("bound to a key that was not proven") // RFC 9449 section 7.2, RFC 8705 section 3
	case !c.bound && i.dpop == DPoPRequire:
		return i.refuse("not bound to a key")
	case c.subject == "" && c.client == "":
		return i.refuse("neither subject nor client")
	case i.requireSub && c.subject == "":
		return i.refuse("no subject")
	case i.requireClient && c.client == "":
		return i.refuse("no client")
	case len(i.clientIDs) > 0 && !slices.Contains(i.clientIDs, c.client):
		return i.refuse("client")
	case !slices.ContainsFunc(c.audiences, i.isAudience) && (c.hasAudience || len(i.clientIDs) == 0):
		return i.refuse("audience")
	case c.expiry.IsZero():
		return i.refuse("no expiry")
	case !now.Before(c.expiry.Add(i.skew)):
		return &refusal{outcome: expiredToken, reason: "expired", issuer: i.url}
	case now.Add(i.skew).Before(c.notBefore):
		return i.refuse("not valid yet")
	case now.Add(i.skew).Before(c.at):
		return i.refuse("issued in the future")
	case i.maxLifetime > 0 && c.lifetime(now) > i.maxLifetime:
		return i.refuse("lives too long")
	}
	if i.scopeClaims != nil {
		var ok bool
		if c.scopes, ok = readScopes(c.text, i.scopeClaims); !ok {
			return i.refuse("malformed claim")
		}
	}
	return nil
}

// lifetime is from "iat", or now if it is absent, to "exp".
func (c *claims) lifetime(now time.Time) time.Duration {
	if !c.at.IsZero() {
		now = c.at
	}
	return c.expiry.Sub(now)
}

// longLife is the lifetime of a token that deserves a warning (T7).
const longLife = 24 * time.Hour

// noteLifetime warns, once, of good tokens that live for days: nothing but the
// removal of their key ends them earlier.
func (i *issuer) noteLifetime(ctx context.Context, c claims, now time.Time) {
	if i.maxLifetime > 0 || i.asks != nil || c.lifetime(now) <= longLife || i.longLived.Swap(true) {
		return
	}
	i.log.LogAttrs(ctx, slog.LevelWarn, "tokens of issuer live long; max_lifetime bounds it",
		slog.String("issuer", i.url), slog.Duration("lifetime", c.lifetime(now)))
}

func (i *issuer) isAudience(a string) bool {
	return slices.Contains(i.audiences, a) || slices.Contains(i.audiences, canonicalAudience(a))
}

// canonicalAudience lowers scheme and host, the only difference in which two
// identifiers may be equal (T2); path, port and trailing slash count. Identifiers are
// not compared by origin: a default port that is written makes another one.
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

// publishedWithin is how long after the time that a token bears its key may be missing among those that are published: some issuers set that time back
// by five minutes, as Entra ID does, and key sets pass through caches.
const publishedWithin = 5 * time.Minute

// verifySignature returns the key set whose key made the signature. If no key
// could have made it, the keys are fetched once more: there may be a new one (T10, T11).
// That is not done for a token that was issued (at) well before they were fetched: its key is
// gone. The time may be made up, but who does that has a token that is no good.
func (i *issuer) verifySignature(ctx context.Context, c credential, h header, at, now time.Time) (*keySet, error) {
	algorithm := jose.SignatureAlgorithm(h.algorithm)
	var jws *jose.JSONWebSignature // made when there is a key to try: who makes up keys has no more work done
	c.check.did(CheckSignature, i.url)
	for fetched := false; ; fetched = true {
		asOf := time.Unix(0, i.fetched.Load()) // before the keys are read, which may be newer then, but not older
		keys := i.current(now)
		if keys != nil {
			for _, k := range keys.find(h.key, algorithm) {
				if jws == nil {
					var err error
					if jws, err = jose.ParseSignedCompact(c.token, []jose.SignatureAlgorithm{algorithm}); err != nil {
						return nil, &refusal{outcome: badToken, reason: "not a JWS", issuer: i.url}
					}
				}
				if _, err := jws.Verify(k.public); err == nil {
					return keys, nil
				}
			}
			if h.key != "" && keys.knows(h.key) {
				return nil, &refusal{outcome: badToken, reason: "signature", issuer: i.url}
			}
		}
		if fetched || keys != nil && !at.IsZero() && asOf.After(at.Add(publishedWithin+i.skew)) {
			return nil, &refusal{outcome: badToken, reason: "unknown key", issuer: i.url}
		}
		if err := i.refresh(ctx, true); err != nil {
			var no *refusal
			if errors.As(err, &no) {
				return nil, no
			}
			c.check.did(CheckKeys, i.url)
			return nil, &refusal{outcome: unavailable, reason: "keys can't be fetched", issuer: i.url, retry: bucketRefill}
		}
		c.check.did(CheckKeys, i.url)
	}
}
