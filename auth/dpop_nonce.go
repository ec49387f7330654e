package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Sizes and lifetime of a nonce.
const (
	minNonceKey = 32
	nonceMAC    = 16
	nonceTime   = 5 * time.Minute
)

// A nonce is its creation time and a MAC of it: every replica with the key can verify it, and none
// has to store it.

// newNonce creates a nonce.
func (p *proofVerifier) newNonce(now time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, seal(p.nonces[0], b)...))
}

func seal(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("dpop nonce\x00"))
	mac.Write(message)
	return mac.Sum(nil)[:nonceMAC]
}

// openNonce returns the creation time of a nonce, or false if it was not created with one of the
// keys.
func (p *proofVerifier) openNonce(nonce string) (time.Time, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(nonce)
	if err != nil || len(b) != 8+nonceMAC {
		return time.Time{}, false
	}
	for _, key := range p.nonces {
		if hmac.Equal(b[8:], seal(key, b[:8])) {
			return time.Unix(int64(binary.BigEndian.Uint64(b)), 0), true
		}
	}
	return time.Time{}, false
}

// isNonce reports whether a nonce is ours and not expired. It allows for a replica whose clock is
// ahead.
func (p *proofVerifier) isNonce(nonce string, now time.Time) bool {
	made, ok := p.openNonce(nonce)
	age := now.Sub(made)
	return ok && age < nonceTime && age > -proofTime
}
