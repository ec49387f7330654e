package auth

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/origin"
)

// DPoPMode determines whether an issuer's tokens may or must be bound to a key (RFC 9449).
type DPoPMode uint8

// Values of [DPoPMode].
const (
	// DPoPOff rejects tokens that are bound to a key, with or without a proof.
	DPoPOff DPoPMode = iota
	// DPoPAccept accepts bound tokens with a proof, and unbound tokens.
	DPoPAccept
	// DPoPRequire accepts bound tokens with a proof only.
	DPoPRequire
)

// Limits on a proof (T18).
const (
	maxProof   = 8 << 10
	maxProofID = 256
	proofTime  = time.Minute // maximum difference between "iat" and now, either way
)

// proofVerifier verifies DPoP proofs (RFC 9449 section 4.3).
type proofVerifier struct {
	targets    []string // the accepted values of "htu", normalized: one, unless identifiers share their audience
	required   bool     // no issuer accepts unbound tokens
	algorithms []jose.SignatureAlgorithm
	algs       string // the names of the algorithms, separated by spaces
	replays    ReplayCache
	nonces     [][]byte // keys; empty if no nonce is required
}

// newProofVerifier returns nil if no issuer accepts bound tokens.
func newProofVerifier(o Options, resource *url.URL) (*proofVerifier, error) {
	p := &proofVerifier{required: true, algorithms: defaultAlgorithms(), replays: o.Replays, nonces: o.NonceKeys}
	used := false
	for _, i := range o.Issuers {
		used = used || i.DPoP != DPoPOff
		p.required = p.required && i.DPoP == DPoPRequire
	}
	for _, key := range o.NonceKeys {
		if len(key) < minNonceKey {
			return nil, fmt.Errorf("a nonce key has %d bytes, it needs %d", len(key), minNonceKey)
		}
	}
	if !used || resource == nil {
		return nil, nil
	}
	if p.replays == nil {
		p.replays = NewReplayMemory(o.Now)
	}
	names := make([]string, len(p.algorithms))
	for n, a := range p.algorithms {
		names[n] = string(a)
	}
	p.algs = strings.Join(names, " ")
	accepted := []string{resource.String()}
	if o.SharedAudience {
		accepted = append(accepted, o.Alternates...)
	}
	for _, each := range accepted {
		target, ok := normalizeTarget(each)
		if !ok {
			return nil, errors.New("the resource identifier can't be the target of a proof")
		}
		p.targets = append(p.targets, target)
	}
	return p, nil
}

// normalizeTarget normalizes a URL for the comparison of "htu": scheme and host in lower case, no
// default port (RFC 9449 section 4.3, RFC 3986 section 6.2), and no trailing slash, because the
// endpoint is served with and without it. It returns false for a URL with user, query or fragment.
func normalizeTarget(s string) (string, bool) {
	if strings.ContainsAny(s, "?#") {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil {
		return "", false
	}
	o, ok := origin.Of(u)
	if !ok {
		return "", false
	}
	return o.String() + strings.TrimSuffix(u.EscapedPath(), "/"), true
}

// rejectProof returns a rejection because of the proof.
func rejectProof(reason string) *rejection {
	return &rejection{outcome: badProof, reason: "proof: " + reason}
}

// verify verifies that a token bound to a key came with a proof of that key, made for this token
// and this request and not used before, and that a token sent with the DPoP scheme is bound.
func (p *proofVerifier) verify(ctx context.Context, c credential, v *verified, sum [sha256.Size]byte, now time.Time) error {
	switch {
	case !c.dpop:
		return v.issuer.reject("bound to a key that was not proven") // a stolen token sent as Bearer (section 7.2)
	case v.thumbprint == "":
		return v.issuer.reject("not bound to a key")
	}
	proof, err := p.parse(c.proof)
	if err != nil {
		return err
	}
	ath := base64.RawURLEncoding.EncodeToString(sum[:])
	age := now.Sub(proof.issuedAt)
	target, ok := normalizeTarget(proof.target)
	switch {
	case proof.thumbprint != v.thumbprint:
		return v.issuer.reject("bound to another key")
	case subtle.ConstantTimeCompare([]byte(proof.hash), []byte(ath)) != 1:
		return rejectProof("ath")
	case c.request == nil || proof.method != c.request.Method:
		return rejectProof("htm")
	case !ok || !slices.Contains(p.targets, target):
		return rejectProof("htu")
	case age > proofTime || age < -proofTime:
		return rejectProof("iat")
	case len(p.nonces) > 0 && !p.isNonce(proof.nonce, now):
		return &rejection{outcome: nonceNeeded, reason: "proof: nonce"}
	}
	if _, err := proof.jws.Verify(proof.key); err != nil {
		return rejectProof("signature")
	}
	// Last, so that only the holder of a valid token and its key can fill the cache.
	id := sha256.Sum256([]byte(proof.thumbprint + " " + proof.id))
	seen, err := p.replays.Seen(ctx, v.principal.ID(), id, proof.issuedAt.Add(proofTime+time.Second))
	switch {
	case errors.Is(err, ErrManyProofs):
		return &rejection{outcome: manyProofs, reason: "proof: too many of one principal", retryAfter: replaySweep}
	case err != nil:
		return &rejection{outcome: unavailable, reason: "proof: replays can't be told", retryAfter: time.Second}
	case seen:
		return rejectProof("used before")
	}
	return nil
}

// proof is a parsed DPoP proof, not yet verified.
type proof struct {
	jws        *jose.JSONWebSignature
	key        crypto.PublicKey
	thumbprint string // of the key

	id, method, target, hash, nonce string
	issuedAt                        time.Time
}

// parse parses a proof (RFC 9449 section 4.2).
func (p *proofVerifier) parse(text string) (*proof, error) {
	if len(text) > maxProof {
		return nil, rejectProof("too long")
	}
	head, payload, err := decodeJWS(text)
	if err != nil {
		return nil, rejectProof("not a JWS of JSON objects")
	}
	var f proof
	algorithm, raw, err := parseProofHeader(head)
	if err != nil {
		return nil, err
	}
	known := false
	for _, a := range p.algorithms {
		known = known || a == algorithm
	}
	if !known {
		return nil, rejectProof("algorithm not allowed")
	}
	k, ok := parseKey(raw)
	if !ok || isPrivate(raw) {
		return nil, rejectProof("jwk is no usable public key")
	}
	if !k.supports(algorithm) {
		return nil, rejectProof("algorithm of another key type")
	}
	sum, err := (&jose.JSONWebKey{Key: k.public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, rejectProof("jwk is no usable public key")
	}
	f.key, f.thumbprint = k.public, base64.RawURLEncoding.EncodeToString(sum)
	if err := f.parse(payload); err != nil {
		return nil, err
	}
	if f.jws, err = jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{algorithm}); err != nil {
		return nil, rejectProof("not a JWS")
	}
	return &f, nil
}

// parseProofHeader parses the header of a proof and returns its algorithm and key.
func parseProofHeader(text []byte) (algorithm jose.SignatureAlgorithm, key []byte, err error) {
	kind := ""
	for name, value := range jsonscan.Members(text) {
		ok := true
		switch string(name) {
		case "typ":
			kind, ok = stringValue(value)
		case "alg":
			var s string
			s, ok = stringValue(value)
			algorithm = jose.SignatureAlgorithm(s)
		case "jwk":
			key = value
		case "crit", "b64", "jku", "x5u", "x5c", "enc", "zip":
			return "", nil, rejectProof("header member that is not supported")
		default:
			ok = !isConfusable(name, "typ", "alg", "jwk", "crit", "b64", "jku", "x5u", "x5c", "enc", "zip")
		}
		if !ok {
			return "", nil, rejectProof("malformed header")
		}
	}
	if !strings.EqualFold(kind, "dpop+jwt") {
		return "", nil, rejectProof("typ")
	}
	return algorithm, key, nil
}

// parse parses the payload of a proof.
func (f *proof) parse(text []byte) error {
	for name, value := range jsonscan.Members(text) {
		var ok bool
		switch string(name) {
		case "jti":
			f.id, ok = stringValue(value)
		case "htm":
			f.method, ok = stringValue(value)
		case "htu":
			f.target, ok = stringValue(value)
		case "ath":
			f.hash, ok = stringValue(value)
		case "nonce":
			f.nonce, ok = stringValue(value)
		case "iat":
			f.issuedAt, ok = numericDate(value)
		default:
			ok = !isConfusable(name, "jti", "htm", "htu", "ath", "nonce", "iat")
		}
		if !ok {
			return rejectProof("malformed claim")
		}
	}
	if f.id == "" || len(f.id) > maxProofID {
		return rejectProof("jti")
	}
	return nil
}

// isPrivate reports whether a JWK holds private key material, which proves nothing (RFC 9449
// section 4.3, number 7).
func isPrivate(jwk []byte) bool {
	for name := range jsonscan.Members(jwk) {
		switch string(name) {
		case "d", "p", "q", "dp", "dq", "qi", "oth", "k":
			return true
		}
	}
	return false
}

// setNonce sets a new nonce in the response.
func (p *proofVerifier) setNonce(h http.Header, now time.Time) {
	h["Dpop-Nonce"] = []string{p.newNonce(now)}
}

// refreshNonce sets a new nonce in the response to a valid proof whose nonce expires soon, so that
// no request has to be sent twice (RFC 9449 section 8.2).
func (p *proofVerifier) refreshNonce(h http.Header, proof string, now time.Time) {
	if len(p.nonces) == 0 {
		return
	}
	_, payload, err := decodeJWS(proof)
	if err != nil {
		return
	}
	nonce, _ := stringValue(jsonscan.Lookup(payload, "nonce"))
	if made, ok := p.openNonce(nonce); ok && now.Sub(made) > nonceTime/2 {
		p.setNonce(h, now)
	}
}
