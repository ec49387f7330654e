package registration

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"drawbridge/auth/relyingparty"
)

const (
	// consentLifetime is how long the user may take to answer the consent page.
	consentLifetime = 10 * time.Minute
	// codeLifetime is the lifetime of a code. RFC 6749 section 4.1.2 recommends at most ten minutes; clients redeem it at once.
	codeLifetime = time.Minute
	// refreshMemory is how long the use of a refresh token is remembered. It limits the memory of the process; a copy of the token that is
	// used later is not noticed here, but by the provider if it rotates its own.
	refreshMemory = time.Hour
)

// registered is a registered client, sealed as its client ID. It never expires.
type registered struct {
	Name         string   `json:"n,omitempty"`
	RedirectURIs []string `json:"r"`
	Refresh      bool     `json:"f,omitempty"`
	IssuedAt     int64    `json:"t"` // Unix time
}

// request is a checked authorization request that waits for the user's consent, sealed in the form of the page.
type request struct {
	Client    string   `json:"c"` // client ID
	Title     string   `json:"n"` // of the client
	Redirect  string   `json:"r"`
	State     string   `json:"s,omitempty"`
	Challenge string   `json:"h"`
	Scopes    []string `json:"o,omitempty"`
	Resource  string   `json:"u"`
	Refresh   bool     `json:"f,omitempty"`
	Browser   string   `json:"b"` // digest of the browser's cookie
	Until     int64    `json:"e"` // Unix time
}

// approved is the part of a request that the callback needs, once the user has approved it. The browser keeps it while the user signs in at
// the provider.
type approved struct {
	Client    string `json:"c"` // digest of the client ID, which may be too long for a cookie
	Redirect  string `json:"r"`
	State     string `json:"s,omitempty"`
	Challenge string `json:"h"`
	Resource  string `json:"u"`
	Refresh   bool   `json:"f,omitempty"`
}

// code is the provider's code, sealed as the client's. Its seal is bound to client ID, redirect URI and challenge.
type code struct {
	ID       string             `json:"i"`
	Until    int64              `json:"e"` // Unix time
	Login    relyingparty.Login `json:"l"`
	Resource string             `json:"u"`
	Refresh  bool               `json:"f,omitempty"`
}

// refresh is the provider's refresh token, sealed as the client's. Its seal is bound to the client ID.
type refresh struct {
	ID       string `json:"i"`
	Token    string `json:"t"`
	Resource string `json:"u"`
}

var errSeal = errors.New("it does not open")

// seals seals values. The kind of a value is part of what its seal is bound to, so that none passes for another.
type seals struct {
	relyingparty.Sealer
	now func() time.Time
}

func (s seals) seal(kind string, value any, bound ...string) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return s.Seal(text, boundTo(kind, bound)), nil
}

func (s seals) open(handle, kind string, value any, bound ...string) error {
	text, err := s.Open(handle, boundTo(kind, bound))
	if err != nil || json.Unmarshal(text, value) != nil {
		return errSeal
	}
	return nil
}

// boundTo returns the texts that a seal is bound to. At most one of them, the redirect URI, has no fixed length, so that no text can take
// the place of another.
func boundTo(kind string, bound []string) []byte {
	return []byte(kind + "\n" + strings.Join(bound, "\n"))
}

// expired reports whether a time has passed.
func (s seals) expired(until int64) bool { return !s.now().Before(time.Unix(until, 0)) }

// digest returns the SHA-256 sum of a client ID or cookie, as text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newID returns 128 random bits as text.
func newID() string { return rand.Text() }
