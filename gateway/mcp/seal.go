package mcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync/atomic"
)

// Sealer makes handles that clients store and send back: base64url(nonce, AES-256-GCM(text)). A handle that was
// altered, or that is presented in another context than it was made for, does not open (T20). Every process with the
// same secrets can open it without a record of it. It is safe for concurrent use.
type Sealer struct {
	label string
	keys  atomic.Pointer[[]cipher.AEAD] // the first seals, all open
}

var errSeal = errors.New("the handle does not open")

// NewSealer derives keys from the secrets; without a secret it makes a random key, valid in this process only. The
// label separates the handles of one purpose from all others and versions their format. The error is for processes that
// are restricted to FIPS 140 and secrets that are too short for it.
func NewSealer(secrets [][]byte, label string) (*Sealer, error) {
	if len(secrets) == 0 {
		secret := make([]byte, 32)
		rand.Read(secret) // never fails (crypto/rand)
		secrets = [][]byte{secret}
	}
	s := &Sealer{label: label}
	if err := s.Rekey(secrets); err != nil {
		return nil, err
	}
	return s, nil
}

// Rekey replaces the keys by those of other secrets, at least one: the first seals from now on, all open. If there is
// an error, which is that of [NewSealer], nothing changes.
func (s *Sealer) Rekey(secrets [][]byte) error {
	var keys []cipher.AEAD
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, secret, nil, s.label, 32)
		if err != nil {
			return fmt.Errorf("derive key: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return err
		}
		keys = append(keys, aead)
	}
	s.keys.Store(&keys)
	return nil
}

// Seal returns a handle of text that opens only with the same bound.
func (s *Sealer) Seal(text, bound []byte) string {
	return base64.RawURLEncoding.EncodeToString((*s.keys.Load())[0].Seal(nil, nil, text, bound))
}

// Open returns the text of a handle.
func (s *Sealer) Open(handle string, bound []byte) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(handle)
	if err != nil {
		return nil, errSeal
	}
	for _, key := range *s.keys.Load() {
		if text, err := key.Open(nil, nil, sealed, bound); err == nil {
			return text, nil
		}
	}
	return nil, errSeal
}
