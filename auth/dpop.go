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
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/gateway/origin"
	"drawbridge/openapi/jsonscan"
)

// DPoPMode says what an issuer's tokens have to do with DPoP (RFC 9449).
type DPoPMode uint8

// The modes.
const (
	// DPoPOff refuses tokens that are bound to a key, proof or not.
	DPoPOff DPoPMode = iota
	// DPoPAccept takes bound tokens with a proof, and unbound ones.
	DPoPAccept
	// DPoPRequire takes bound tokens with a proof and no others.
	DPoPRequire
)

// Limits on a proof (T18).
const (
	maxProof   = 8 << 10
	maxProofID = 256
	proofTime  = time.Minute // how far "iat" may be off, either way
)

// proofs checks DPoP proofs (RFC 9449 section 4.3).
type proofs struct {
	target     string // the only "htu", normalized
	required   bool   // no issuer takes unbound tokens
	algorithms []jose.SignatureAlgorithm
	algs       string // their names, with spaces
	replays    ReplayCache
	nonces     [][]byte // keys; empty: no nonce is asked for
}

// newProofs returns nil if no issuer takes bound tokens.
func newProofs(o Options, resource *url.URL) (*proofs, error) {
	p := &proofs{required: true, algorithms: defaultAlgorithms(), replays: o.Replays, nonces: o.NonceKeys}
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
	var ok bool
	if p.target, ok = normalizeTarget(resource.String()); !ok {
		return nil, errors.New("the resource identifier can't be the target of a proof")
	}
	return p, nil
}

// normalizeTarget brings a URL to the form in which "htu" is compared: scheme
// and host in lower case, no default port (RFC 9449 section 4.3, RFC 3986
// section 6.2), and no slash at the end, since the endpoint is served with it
// and without. One with user, query or fragment has no such form.
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

// badProofOf is a refusal for the proof's sake.
func badProofOf(reason string) *refusal {
	return &refusal{outcome: badProof, reason: "proof: " + reason}
}

// check checks that a token which is bound to a key came with the proof of that
// key, made for this token and this request and not seen before; and that a
// token which is not came without the claim that it is.
func (p *proofs) check(ctx context.Context, c credential, v *verified, sum [sha256.Size]byte, now time.Time) error {
	switch {
	case !c.dpop:
		return v.issuer.refuse("bound to a key that was not proven") // a stolen token in disguise (section 7.2)
	case v.thumbprint == "":
		return v.issuer.refuse("not bound to a key")
	}
	proof, err := p.parse(c.proof)
	if err != nil {
		return err
	}
	ath := base64.RawURLEncoding.EncodeToString(sum[:])
	age := now.Sub(proof.at)
	target, ok := normalizeTarget(proof.target)
	switch {
	case proof.thumbprint != v.thumbprint:
		return v.issuer.refuse("bound to another key")
	case subtle.ConstantTimeCompare([]byte(proof.hash), []byte(ath)) != 1:
		return badProofOf("ath")
	case c.request == nil || proof.method != c.request.Method:
		return badProofOf("htm")
	case !ok || target != p.target:
		return badProofOf("htu")
	case age > proofTime || age < -proofTime:
		return badProofOf("iat")
	case len(p.nonces) > 0 && !p.isNonce(proof.nonce, now):
		return &refusal{outcome: nonceNeeded, reason: "proof: nonce"}
	}
	if _, err := proof.jws.Verify(proof.key); err != nil {
		return badProofOf("signature")
	}
	// Last, so that only who has a good token and its key can fill the memory.
	id := sha256.Sum256([]byte(proof.thumbprint + " " + proof.id))
	seen, err := p.replays.Seen(ctx, v.principal.ID(), id, proof.at.Add(proofTime+time.Second))
	switch {
	case errors.Is(err, ErrManyProofs):
		return &refusal{outcome: manyProofs, reason: "proof: too many of one principal", retry: replaySweep}
	case err != nil:
		return &refusal{outcome: unavailable, reason: "proof: replays can't be told", retry: time.Second}
	case seen:
		return badProofOf("used before")
	}
	return nil
}

// proof is a DPoP proof taken apart: form, not truth.
type proof struct {
	jws        *jose.JSONWebSignature
	key        crypto.PublicKey
	thumbprint string // of the key

	id, method, target, hash, nonce string
	at                              time.Time
}

// parse reads a proof (RFC 9449 section 4.2).
func (p *proofs) parse(text string) (*proof, error) {
	if len(text) > maxProof {
		return nil, badProofOf("too long")
	}
	head, payload, err := decodeJWS(text)
	if err != nil {
		return nil, badProofOf("not a JWS of JSON objects")
	}
	var f proof
	algorithm, raw, err := readProofHeader(head)
	if err != nil {
		return nil, err
	}
	known := false
	for _, a := range p.algorithms {
		known = known || a == algorithm
	}
	if !known {
		return nil, badProofOf("algorithm not allowed")
	}
	k, ok := parseKey(raw)
	if !ok || isPrivate(raw) {
		return nil, badProofOf("jwk is no usable public key")
	}
	if !k.fits(algorithm) {
		return nil, badProofOf("algorithm of another key type")
	}
	sum, err := (&jose.JSONWebKey{Key: k.public}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, badProofOf("jwk is no usable public key")
	}
	f.key, f.thumbprint = k.public, base64.RawURLEncoding.EncodeToString(sum)
	if err := f.read(payload); err != nil {
		return nil, err
	}
	if f.jws, err = jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{algorithm}); err != nil {
		return nil, badProofOf("not a JWS")
	}
	return &f, nil
}

// readProofHeader reads the header of a proof: algorithm and key.
func readProofHeader(text []byte) (algorithm jose.SignatureAlgorithm, key []byte, err error) {
	kind := ""
	for name, value := range jsonscan.Members(text) {
		ok := true
		switch string(name) {
		case "typ":
			kind, ok = text1(value)
		case "alg":
			var s string
			s, ok = text1(value)
			algorithm = jose.SignatureAlgorithm(s)
		case "jwk":
			key = value
		case "crit", "b64", "jku", "x5u", "x5c", "enc", "zip":
			return "", nil, badProofOf("header member that is not supported")
		default:
			ok = !isVariant(name, "typ", "alg", "jwk", "crit", "b64", "jku", "x5u", "x5c", "enc", "zip")
		}
		if !ok {
			return "", nil, badProofOf("malformed header")
		}
	}
	if !strings.EqualFold(kind, "dpop+jwt") {
		return "", nil, badProofOf("typ")
	}
	return algorithm, key, nil
}

// read reads the payload of a proof.
func (f *proof) read(text []byte) error {
	for name, value := range jsonscan.Members(text) {
		var ok bool
		switch string(name) {
		case "jti":
			f.id, ok = text1(value)
		case "htm":
			f.method, ok = text1(value)
		case "htu":
			f.target, ok = text1(value)
		case "ath":
			f.hash, ok = text1(value)
		case "nonce":
			f.nonce, ok = text1(value)
		case "iat":
			f.at, ok = numericDate(value)
		default:
			ok = !isVariant(name, "jti", "htm", "htu", "ath", "nonce", "iat")
		}
		if !ok {
			return badProofOf("malformed claim")
		}
	}
	if f.id == "" || len(f.id) > maxProofID {
		return badProofOf("jti")
	}
	return nil
}

// isPrivate reports whether a JWK holds what its owner alone should have: then
// it proves nothing (RFC 9449 section 4.3, number 7).
func isPrivate(jwk []byte) bool {
	for name := range jsonscan.Members(jwk) {
		switch string(name) {
		case "d", "p", "q", "dp", "dq", "qi", "oth", "k":
			return true
		}
	}
	return false
}

// setNonce hands out a nonce, for a caller that needs one.
func (p *proofs) setNonce(h http.Header, now time.Time) {
	h["Dpop-Nonce"] = []string{p.newNonce(now)}
}

// refreshNonce hands out a nonce with the answer to a good proof whose own will
// soon be too old, so that no request has to be sent twice (RFC 9449 section 8.2).
func (p *proofs) refreshNonce(h http.Header, proof string, now time.Time) {
	if len(p.nonces) == 0 {
		return
	}
	_, payload, err := decodeJWS(proof)
	if err != nil {
		return
	}
	nonce, _ := text1(jsonscan.Lookup(payload, "nonce"))
	if made, ok := p.openNonce(nonce); ok && now.Sub(made) > nonceTime/2 {
		p.setNonce(h, now)
	}
}
