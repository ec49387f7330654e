package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// APIKeyPrefix begins every API key. It alone decides that a credential is a key: such a text is never verified as a
// token, and no other text is looked up among the keys (T14).
const APIKeyPrefix = "dbk_"

// APIKeyHeader is the header in which a key may be sent instead of Authorization.
const APIKeyHeader = "X-API-Key"

const apiKeyHeader = "X-Api-Key" // as net/http spells it

// Parts of a key behind its prefix, in bytes: random ones, and a CRC-32 of them by which a cut or mistyped key is
// recognized without a lookup. Together they have a whole number of base32 digits.
const (
	apiKeyRandom   = 21
	apiKeyChecksum = 4
)

var apiKeyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewAPIKey returns a key with 168 random bits. It has lower-case letters and digits only.
func NewAPIKey() string {
	var b [apiKeyRandom + apiKeyChecksum]byte
	_, _ = rand.Read(b[:apiKeyRandom]) // it never fails
	binary.BigEndian.PutUint32(b[apiKeyRandom:], crc32.ChecksumIEEE(b[:apiKeyRandom]))
	return APIKeyPrefix + apiKeyEncoding.EncodeToString(b[:])
}

// HashAPIKey returns the SHA-256 of a key, which a configuration may hold in plain text. A hash that is slow by design is for
// passwords: 168 random bits can't be guessed at any speed.
func HashAPIKey(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

func isAPIKey(text string) bool { return strings.HasPrefix(text, APIKeyPrefix) }

// isWholeAPIKey reports whether a key has its length, alphabet and checksum.
func isWholeAPIKey(text string) bool {
	var b [apiKeyRandom + apiKeyChecksum]byte
	digits := strings.TrimPrefix(text, APIKeyPrefix)
	if len(digits) != apiKeyEncoding.EncodedLen(len(b)) {
		return false
	}
	n, err := apiKeyEncoding.Decode(b[:], []byte(digits))
	return err == nil && n == len(b) && binary.BigEndian.Uint32(b[apiKeyRandom:]) == crc32.ChecksumIEEE(b[:apiKeyRandom])
}

// APIKey is a caller that is known by a key instead of a token, such as a script that can't log in. A key is valid at all
// endpoints of the gateway.
type APIKey struct {
	// Name names the key. It is the [Principal.ClientID] of its caller.
	Name string
	// Hashes are those of the accepted keys, see [HashAPIKey]: two while one replaces the other.
	Hashes [][sha256.Size]byte
	// Principal is the [Principal.Subject] of the caller. Keys with the same one share rate limits, sessions and tasks.
	Principal string
	// Groups are the groups of the caller, for use by a [Condition].
	Groups []string
	// Scopes are the granted scopes.
	Scopes []string
	// Expiry is the time from which the key is rejected; zero for never.
	Expiry time.Time
	// Addresses are the networks from which the key is accepted; empty for all. A request whose address is unknown is rejected,
	// see [Options.ClientAddress].
	Addresses []netip.Prefix
}

// apiKey is a key that the guard accepts.
type apiKey struct {
	principal *Principal // the same for all requests
	addresses []netip.Prefix
}

// addAPIKeys makes the keys of a guard.
func (g *Guard) addAPIKeys(keys []APIKey, problem func(format string, args ...any)) {
	if len(keys) == 0 {
		return
	}
	g.apiKeys = make(map[[sha256.Size]byte]*apiKey, len(keys))
	for _, k := range keys {
		p := &Principal{
			Subject: k.Principal, ClientID: k.Name, Scopes: slices.Clone(k.Scopes), Groups: slices.Clone(k.Groups), Expiry: k.Expiry,
			Credential: CredentialAPIKey, id: identify("", k.Principal, k.Name),
		}
		g.assignGroup(p, nil)
		for _, hash := range k.Hashes {
			if hash == ([sha256.Size]byte{}) { // stands for a secret that a check does without
				continue
			}
			if g.apiKeys[hash] != nil {
				problem("key %q has the hash of key %q", k.Name, g.apiKeys[hash].principal.ClientID)
			}
			g.apiKeys[hash] = &apiKey{principal: p, addresses: k.Addresses}
		}
	}
}

// authenticateKey finds the caller of a key. A key that is not accepted is charged to its address like an invalid token.
func (g *Guard) authenticateKey(c credential, now time.Time) (*Principal, error) {
	k, err := g.acceptedKey(c, now)
	if err == nil {
		return k.principal, nil
	}
	if _, tooMany := g.badTokens.charge(c.request, now); tooMany != nil {
		return nil, tooMany
	}
	return nil, err
}

// acceptedKey returns the key of a request. A lookup by the hash need not take constant time: its duration depends on bits of the
// hash of the text that was sent, which say nothing about a key with another hash.
func (g *Guard) acceptedKey(c credential, now time.Time) (*apiKey, error) {
	var buf [64]byte
	k := g.apiKeys[sha256.Sum256(append(buf[:0], c.token...))]
	switch {
	case !isAPIKey(c.token):
		return nil, reject("not an API key")
	case c.dpop:
		return nil, reject("API key with a proof")
	case k != nil && k.isExpired(now):
		return nil, &rejection{outcome: expiredToken, reason: "API key expired"}
	case k != nil && !k.allows(g, c):
		return nil, reject("API key from another address")
	case k != nil:
		return k, nil
	case !isWholeAPIKey(c.token):
		return nil, reject("malformed API key")
	}
	return nil, reject("unknown API key")
}

func (k *apiKey) isExpired(now time.Time) bool {
	return !k.principal.Expiry.IsZero() && !now.Before(k.principal.Expiry)
}

// allows reports whether the key may be used from the address of the request. Without a request, as in [Guard.Explain], it may.
func (k *apiKey) allows(g *Guard, c credential) bool {
	if len(k.addresses) == 0 || c.request == nil {
		return true
	}
	if g.clientAddress == nil {
		return false
	}
	address, ok := g.clientAddress(c.request)
	return ok && slices.ContainsFunc(k.addresses, func(n netip.Prefix) bool { return n.Contains(address) })
}
