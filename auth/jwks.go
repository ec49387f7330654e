package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/openapi/jsonscan"
)

// Limits on key sets (T13).
const (
	maxKeys    = 100
	minRSABits = 2048
	maxRSABits = 4096 // go-jose parses no larger ones
)

// defaultAlgorithms are the supported algorithms, all asymmetric (T5).
func defaultAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}

// keySet is the set of usable keys of an issuer at one time.
type keySet struct {
	keys   []key
	digest [32]byte // equal for equal keys in any order
	// withdrawn are ids of keys that earlier sets of the issuer had, the latest first, at most maxKeys.
	withdrawn []string
}

// key is one public key.
type key struct {
	id        string // "" if it has none
	algorithm string // "" if unspecified
	public    any
}

// parseKeySet reads a JWK Set (RFC 7517 section 5). Unusable keys (other types, encryption, weak,
// private, malformed) are skipped, as the RFC says.
func parseKeySet(data []byte) (*keySet, error) {
	info, err := jsonscan.Scan(data, jsonscan.Options{MaxDepth: 32, Unique: true})
	if err != nil {
		return nil, err
	}
	list := jsonscan.Lookup(data, "keys")
	if info.Kind != jsonscan.Object || jsonscan.KindOf(list) != jsonscan.Array {
		return nil, errors.New("no array \"keys\" in it")
	}
	set := &keySet{}
	var sums [][32]byte
	n := 0
	for raw := range jsonscan.Elements(list) {
		if n++; n > maxKeys {
			return nil, fmt.Errorf("more than %d keys", maxKeys)
		}
		if k, ok := parseKey(raw); ok {
			set.keys = append(set.keys, k)
			sums = append(sums, sha256.Sum256(jsonscan.AppendCompact(nil, raw)))
		}
	}
	slices.SortFunc(sums, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
	all := make([]byte, 0, len(sums)*32)
	for _, s := range sums {
		all = append(all, s[:]...)
	}
	set.digest = sha256.Sum256(all)
	return set, nil
}

func parseKey(raw []byte) (key, bool) {
	var jwk jose.JSONWebKey
	if jsonscan.KindOf(raw) != jsonscan.Object || jwk.UnmarshalJSON(raw) != nil {
		return key{}, false
	}
	if jwk.Use != "" && jwk.Use != "sig" || !mayVerify(raw) {
		return key{}, false
	}
	switch public := jwk.Key.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return key{}, false
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default: // symmetric and private keys do not belong in a published set
		return key{}, false
	}
	return key{id: jwk.KeyID, algorithm: jwk.Algorithm, public: jwk.Key}, true
}

// mayVerify reads key_ops (RFC 7517 section 4.3).
func mayVerify(raw []byte) bool {
	ops := jsonscan.Lookup(raw, "key_ops")
	if ops == nil {
		return true
	}
	for op := range jsonscan.Elements(ops) {
		if string(op) == `"verify"` {
			return true
		}
	}
	return false
}

// find returns the keys that a token may be signed with. A token without a key id may be signed
// with any.
func (s *keySet) find(id string, a jose.SignatureAlgorithm) []key {
	var found []key
	for _, k := range s.keys {
		if (id == "" || k.id == id) && k.supports(a) {
			found = append(found, k)
		}
	}
	return found
}

// knows reports whether the set has a key with that id, of any type.
func (s *keySet) knows(id string) bool {
	return slices.ContainsFunc(s.keys, func(k key) bool { return k.id == id })
}

// after records which keys of an earlier set, nil if there is none, are not in this one.
func (s *keySet) after(old *keySet) {
	if old == nil {
		return
	}
	for _, k := range old.keys {
		if k.id != "" && !s.knows(k.id) {
			s.withdrawn = append(s.withdrawn, k.id)
		}
	}
	for _, id := range old.withdrawn {
		if !s.knows(id) && !slices.Contains(s.withdrawn, id) {
			s.withdrawn = append(s.withdrawn, id)
		}
	}
	s.withdrawn = s.withdrawn[:min(len(s.withdrawn), maxKeys)]
}

// supports reports whether the key can be used with the algorithm, curve included (T5).
func (k key) supports(a jose.SignatureAlgorithm) bool {
	if k.algorithm != "" && k.algorithm != string(a) {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		switch a {
		case jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512:
			return true
		default:
			return false
		}
	case *ecdsa.PublicKey:
		switch a {
		case jose.ES256:
			return public.Curve == elliptic.P256()
		case jose.ES384:
			return public.Curve == elliptic.P384()
		case jose.ES512:
			return public.Curve == elliptic.P521()
		default:
			return false
		}
	case ed25519.PublicKey:
		return a == jose.EdDSA
	}
	return false
}
