package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// APIKey is a caller that is known by a key instead of a token, such as a script that can't log in. drawbridge key new makes the key
// and its entry.
type APIKey struct {
	// The name of the key, as logs have it and the audit log as client. A letter or digit, then letters, digits, _ and -, at most 40.
	Name string `yaml:"name" required:"true" access:"joint: entry" is:"api-name"`
	// The SHA-256 of the key, as drawbridge key new prints it. Two of them accept two keys while one replaces the other.
	Hash KeyHashes `yaml:"hash" required:"true" access:"grants" empty:"leave the whole entry out" count:"2 hashes" unique:"%v is listed twice"`
	// The identity of the caller: rate limits, sessions, tasks and conditions know it by this name. Keys may share one.
	Principal string `yaml:"principal,omitempty" absent:"the name of the key" access:"any" is:"text" length:"200"`
	// Groups of the caller, which conditions know as principal.groups.
	Groups []string `yaml:"groups,omitempty" absent:"none" access:"grants" empty:"leave it out" is:"text" unique:"%q is listed twice"`
	// The scopes of the caller.
	Scopes []string `yaml:"scopes,omitempty" absent:"none" access:"grants" empty:"leave it out" is:"scope" unique:"%q is listed twice"`
	// When the key ceases to be accepted: a date, at its beginning in UTC, or a time such as 2027-06-30T18:00:00Z.
	Expires Instant `yaml:"expires,omitempty" absent:"never" access:"limit"`
	// The networks from which the key is accepted. Behind a proxy, server.trusted_proxies must list it.
	Addresses []Network `yaml:"addresses,omitempty" absent:"all addresses" access:"allows" empty:"the key could be used nowhere; leave it out"`
}

func (k *APIKey) validate(c cursor) {
	if k.Expires != 0 && !k.Expires.Time().After(time.Now()) {
		c.warnf("expires", "the key has expired; remove its entry, or make another key")
	}
}

// PrincipalName returns the name of the caller's principal.
func (k *APIKey) PrincipalName() string {
	if k.Principal != "" {
		return k.Principal
	}
	return k.Name
}

// KeyHashes are one or two hashes of keys. In a file, a single one may stand for a list of one.
type KeyHashes []KeyHash

func (KeyHashes) single() (kind yaml.Kind, noun string) { return yaml.ScalarNode, "string" }

// KeyHash is the SHA-256 of an API key, written as sha256: and 64 hexadecimal digits.
type KeyHash string

const keyHashPrefix = "sha256:"

// NewKeyHash returns the KeyHash of a sum.
func NewKeyHash(sum [sha256.Size]byte) KeyHash {
	return KeyHash(keyHashPrefix + hex.EncodeToString(sum[:]))
}

// Sum returns the hash; zero if a check stands in for a missing secret.
func (h KeyHash) Sum() (sum [sha256.Size]byte) {
	_, _ = hex.Decode(sum[:], []byte(strings.TrimPrefix(string(h), keyHashPrefix)))
	return sum
}

// parse refuses a key itself with a text of its own; "dbk_" is [auth.APIKeyPrefix].
func (h *KeyHash) parse(text string) error {
	if strings.HasPrefix(text, "dbk_") {
		return errors.New("is a key instead of its hash; make another with drawbridge key new, since this one was in a file, and write the hash that it prints")
	}
	digits, found := strings.CutPrefix(text, keyHashPrefix)
	sum, err := hex.DecodeString(digits)
	if !found || err != nil || len(sum) != sha256.Size {
		return errors.New("must be sha256: and 64 hexadecimal digits, as drawbridge key new prints it")
	}
	*h = NewKeyHash([sha256.Size]byte(sum))
	return nil
}

// Instant is a point in time, in seconds since 1970. In a file it is a date, which stands for its beginning in UTC, or a time with its offset
// (RFC 3339). Zero is none.
type Instant int64

// Time returns the time in UTC; zero for none.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(int64(i), 0).UTC()
}

// String returns the time in UTC as it is written in a file.
func (i Instant) String() string {
	if i == 0 {
		return ""
	}
	return i.Time().Format(time.RFC3339)
}

// MarshalText returns the time in UTC as it is written in a file.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

func (i *Instant) parse(text string) error {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	if err != nil || t.Unix() <= 0 {
		return errors.New("must be a date such as 2027-06-30, or a time such as 2027-06-30T18:00:00Z")
	}
	*i = Instant(t.Unix())
	return nil
}
