package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"net/netip"
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
