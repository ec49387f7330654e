package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Sizes and life of a nonce.
const (
	minNonceKey = 32
	nonceMAC    = 16
	nonceTime   = 5 * time.Minute
)

// A nonce is the time at which it was made and a code over it: every replica
// with the key can check it, and none has to remember it.

// newNonce makes a nonce.
func (p *proofs) newNonce(now time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(now.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, seal(p.nonces[0], b)...))
}

func seal(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("dpop nonce\x00"))
	mac.Write(message)
	return mac.Sum(nil)[:nonceMAC]
}

// openNonce returns when one of ours was made.
func (p *proofs) openNonce(nonce string) (time.Time, bool) {
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

// isNonce reports whether a nonce is ours and young. One of a replica whose
// clock is ahead is young, too.
func (p *proofs) isNonce(nonce string, now time.Time) bool {
	made, ok := p.openNonce(nonce)
	age := now.Sub(made)
	return ok && age < nonceTime && age > -proofTime
}
