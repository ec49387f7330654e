package state

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// nameSize is the number of bytes of a digest in a name.
const nameSize = 16

// Rename changes the key of names. Values under names with earlier keys expire by themselves.
func (s *Shared) Rename(key []byte) { s.key.Store(&key) }

// nameKey derives the key of names from the secrets of all replicas. It uses the least of them, so
// that their order doesn't matter and names change only once during a key rotation.
func nameKey(keys [][]byte) []byte {
	mac := hmac.New(sha256.New, slices.MinFunc(keys, bytes.Compare))
	mac.Write([]byte("drawbridge shared names"))
	return mac.Sum(nil)
}

// name returns a name in Redis: the prefix and the parts, separated by colons.
func (s *Shared) name(parts ...string) string { return s.o.Prefix + ":" + strings.Join(parts, ":") }

// digest returns a name for a text that can't be guessed: a random id, or a digest. It does not
// depend on the key, so replicas find the value while their keys are rotated.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:nameSize])
}

// pseudonym returns a name for a text that could be guessed, such as a caller, so that readers of
// Redis can't identify it.
func (s *Shared) pseudonym(text string) string {
	mac := hmac.New(sha256.New, *s.key.Load())
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:nameSize])
}
