package authtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Algorithms for [Options.Algorithm].
const (
	ES256 = string(jose.ES256)
	RS256 = string(jose.RS256)
)

// newKey creates a signing key, whose id is its thumbprint (RFC 7638).
func newKey(algorithm string) (jose.JSONWebKey, error) {
	k := jose.JSONWebKey{Algorithm: algorithm, Use: "sig"}
	var err error
	switch algorithm {
	case ES256:
		k.Key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RS256:
		k.Key, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		return k, fmt.Errorf("algorithm %q is neither %s nor %s", algorithm, ES256, RS256)
	}
	if err != nil {
		return k, fmt.Errorf("make a key: %w", err)
	}
	if k.KeyID, err = thumbprint(&k); err != nil {
		return k, fmt.Errorf("make a key: %w", err)
	}
	return k, nil
}

// thumbprint is the RFC 7638 thumbprint of a key, used as "kid" and as "jkt" of RFC 9449.
func thumbprint(k *jose.JSONWebKey) (string, error) {
	sum, err := k.Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}

// sign signs claims with the newest key. The caller holds s.mu.
func (s *Server) sign(kind string, claims map[string]any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	k := s.keys[len(s.keys)-1]
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.SignatureAlgorithm(k.Algorithm), Key: k},
		(&jose.SignerOptions{}).WithType(jose.ContentType(kind)))
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	return signed.CompactSerialize()
}

// RotateKeys creates a new signing key and publishes it. Old keys stay published until
// [Server.DropOldKeys].
func (s *Server) RotateKeys() error {
	k, err := newKey(s.algorithm)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, k)
	return nil
}

// DropOldKeys publishes the newest key only, so that tokens signed with others can't be verified
// any more.
func (s *Server) DropOldKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = s.keys[len(s.keys)-1:]
}

// keySet is the document at jwks_uri.
func (s *Server) keySet() jose.JSONWebKeySet {
	s.mu.Lock()
	defer s.mu.Unlock()
	var set jose.JSONWebKeySet
	for _, k := range s.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	return set
}
