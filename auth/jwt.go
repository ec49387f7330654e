package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/jsonscan"
)

// maxToken and maxTokenDepth limit a token before anything is decoded (T8).
const (
	maxToken      = 16 << 10
	maxTokenDepth = 16
)

// verify checks a JWT access token (RFC 9068 section 4, RFC 8725). Everything
// that can be decided from the token alone comes first, so that only a token
// that could be good causes a network call (T5).
func (g *Guard) verify(ctx context.Context, token string, now time.Time) (*verified, error) {
	header, claims, err := parseToken(token)
	if err != nil {
		return nil, err
	}
	i := g.issuers[claims.issuer]
	if i == nil {
		return nil, refuse("unknown issuer")
	}
	if err := i.check(header, claims, now); err != nil {
		var no *refusal
		if errors.As(err, &no) {
			no.issuer = i.url
		}
		return nil, err
	}
	keys, err := i.verifySignature(ctx, token, header, now)
	if err != nil {
		return nil, err
	}
	return &verified{
		principal: &Principal{
			Issuer:   i.url,
			Subject:  claims.subject,
			ClientID: claims.client,
			Scopes:   claims.scopes,
			Expiry:   claims.expiry,
			id:       identify(i.url, claims.subject, claims.client),
		},
		issuer: i,
		keys:   keys,
		until:  claims.expiry.UnixNano(),
	}, nil
}

// header is what the gateway reads of a JOSE header.
type header struct{ algorithm, key, kind string }

// claims is what the gateway reads of a token's payload.
type claims struct {
	issuer, subject, client string
	audiences               []string
	scopes                  []string
	expiry, notBefore, at   time.Time // zero: absent
	identity                bool      // it is an ID, refresh or logout token
	bound                   bool      // "cnf": only with proof of possession
}

// parseToken takes a token in JWS compact serialization (RFC 7515 section 7.1)
// apart. It checks form, not truth.
func parseToken(token string) (header, claims, error) {
	var h header
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return h, c, refuse("not a JWT") // JWE has five parts, an opaque token has any number
	}
	var decoded [3][]byte
	for n, part := range parts {
		var err error
		if decoded[n], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || part == "" || strings.ContainsAny(part, "\r\n") {
			return h, c, refuse("not base64url")
		}
	}
	for _, text := range decoded[:2] {
		info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: maxTokenDepth, Unique: true})
		if err != nil || info.Kind != jsonscan.Object {
			return h, c, refuse("not a JSON object with unique members")
		}
	}
	if err := h.read(decoded[0]); err != nil {
		return h, c, err
	}
	return h, c, c.read(decoded[1])
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
	authorized := ""
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
		case "aud":
			c.audiences, ok = texts(value)
		case "exp":
			c.expiry, ok = numericDate(value)
		case "nbf":
			c.notBefore, ok = numericDate(value)
		case "iat":
			c.at, ok = numericDate(value)
		case "scope", "scp":
			var list []string
			list, ok = texts(value)
			for _, s := range list {
				c.scopes = appendScopes(c.scopes, s)
			}
		case "cnf":
			c.bound = true
		case "nonce", "at_hash", "c_hash", "s_hash", "events":
			c.identity = true // OpenID Connect Core section 2, logout and event tokens
		case "token_use": // Cognito
			use, _ := text1(value)
			c.identity = c.identity || use != "access"
		case "typ": // Keycloak
			kind, _ := text1(value)
			c.identity = c.identity || slices.Contains([]string{"ID", "Refresh", "Offline", "Logout"}, kind)
		default:
			ok = !isVariant(name, "iss", "sub", "client_id", "azp", "aud", "exp", "nbf", "iat", "scope", "scp",
				"cnf", "nonce", "at_hash", "c_hash", "s_hash", "events", "token_use", "typ")
		}
		if !ok {
			return refuse("malformed claim")
		}
	}
	if c.client == "" {
		c.client = authorized
	}
	return nil
}

// isVariant reports whether a member name differs from a known one only by case
// or by control characters around it: some parser behind or before us may take
// it for the known one (T8).
func isVariant(name []byte, known ...string) bool {
	s := string(name)
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return true
	}
	s = strings.TrimSpace(s)
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(s, k) })
}

// text1 returns the value of a JSON string.
func text1(value []byte) (string, bool) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return "", false
	}
	return string(jsonscan.Unquote(value)), true
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

// check compares a token with the rules of its issuer.
func (i *issuer) check(h header, c claims, now time.Time) error {
	switch {
	case !slices.Contains(i.algorithms, jose.SignatureAlgorithm(h.algorithm)):
		return refuse("algorithm not allowed")
	case !slices.Contains(i.types, strings.ToLower(h.kind)):
		return refuse("token type not accepted")
	case c.identity:
		return refuse("not an access token")
	case c.bound:
		return refuse("bound to a key that was not proven") // RFC 9449 section 7.2, RFC 8705 section 3
	case c.subject == "" && c.client == "":
		return refuse("neither subject nor client")
	case !slices.ContainsFunc(c.audiences, i.isAudience):
		return refuse("audience")
	case c.expiry.IsZero():
		return refuse("no expiry")
	case !now.Before(c.expiry.Add(i.skew)):
		return &refusal{outcome: expiredToken, reason: "expired"}
	case now.Add(i.skew).Before(c.notBefore):
		return refuse("not valid yet")
	case now.Add(i.skew).Before(c.at):
		return refuse("issued in the future")
	}
	return nil
}

func (i *issuer) isAudience(a string) bool {
	return slices.Contains(i.audiences, a) || slices.Contains(i.audiences, canonicalAudience(a))
}

// canonicalAudience lowers scheme and host, the only difference in which two
// identifiers may be equal (T2); path, port and trailing slash count.
func canonicalAudience(a string) string {
	scheme, rest, ok := strings.Cut(a, "://")
	if !ok {
		return a
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return strings.ToLower(scheme) + "://" + strings.ToLower(rest[:end]) + rest[end:]
}

// verifySignature returns the key set whose key made the signature. If no key
// could have made it, the keys are fetched once more: there may be a new one (T10, T11).
func (i *issuer) verifySignature(ctx context.Context, token string, h header, now time.Time) (*keySet, error) {
	algorithm := jose.SignatureAlgorithm(h.algorithm)
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return nil, &refusal{outcome: badToken, reason: "not a JWS", issuer: i.url}
	}
	for fetched := false; ; fetched = true {
		keys := i.current(now)
		if keys != nil {
			for _, k := range keys.find(h.key, algorithm) {
				if _, err := jws.Verify(k.public); err == nil {
					return keys, nil
				}
			}
			if h.key != "" && keys.knows(h.key) {
				return nil, &refusal{outcome: badToken, reason: "signature", issuer: i.url}
			}
		}
		if fetched {
			return nil, &refusal{outcome: badToken, reason: "unknown key", issuer: i.url}
		}
		if err := i.refresh(ctx, true); err != nil {
			var no *refusal
			if errors.As(err, &no) {
				return nil, no
			}
			return nil, &refusal{outcome: unavailable, reason: "keys can't be fetched", issuer: i.url, retry: bucketRefill}
		}
	}
}
