package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// nameSize is how many bytes of a digest stand in a name.
const nameSize = 16

// Rename has names made with another key, and forgets none of those that were made before: they end by themselves.
func (s *Shared) Rename(key []byte) { s.key.Store(&key) }

// name returns a name in Redis: the prefix and the parts, with colons between.
func (s *Shared) name(parts ...string) string { return s.o.Prefix + ":" + strings.Join(parts, ":") }

// digest names what can't be guessed: a random id, or the digest of something. Nothing but the text decides on it, so replicas
// find it under the same name while their keys are rotated.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:nameSize])
}

// pseudonym names what could be guessed, such as a caller, so that who reads Redis does not learn whom it means.
func (s *Shared) pseudonym(text string) string {
	mac := hmac.New(sha256.New, *s.key.Load())
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:nameSize])
}
