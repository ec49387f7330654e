package account

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

const (
	// lifetime is how long an account is kept after it was connected or its tokens were refreshed.
	lifetime = 90 * 24 * time.Hour
	// early is how long before its expiry an access token is refreshed at most; a tenth of its lifetime if that is less.
	early = 30 * time.Second
)

// Account is the account of a caller at a service, for operators. It has no token.
type Account struct {
	// ID identifies the account. It is not secret.
	ID string `json:"id"`
	// API is the name of the API, and Scheme that of the security scheme; "" for the credential of the whole API.
	API    string `json:"api"`
	Scheme string `json:"scheme,omitempty"`
	// Server identifies the server among those that claims of callers select; "" if all calls have the same.
	Server string `json:"server,omitempty"`
	// Issuer and Subject are those of the caller's tokens.
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
	// Scopes were requested when the account was connected.
	Scopes    []string  `json:"scopes,omitempty"`
	Connected time.Time `json:"connected"`
	// Refreshed is when the present tokens were issued.
	Refreshed time.Time `json:"refreshed"`
	Until     time.Time `json:"until"`
}

// stored is an account with its tokens, as it is sealed.
type stored struct {
	Account
	Service string    `json:"service"` // Service.id
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"` // "" if the service gives none
	Expiry  time.Time `json:"expiry,omitzero"`   // of Access; zero if it is unknown
	Revoked bool      `json:"revoked,omitempty"` // stands for an account that was removed, so that no replica brings it back
}

// isFresh reports whether the access token can be sent without refreshing it.
func (s *stored) isFresh(now time.Time) bool {
	return s.Expiry.IsZero() || now.Before(s.Expiry.Add(-min(early, s.Expiry.Sub(s.Refreshed)/10)))
}

// isValid reports whether the service should accept the access token.
func (s *stored) isValid(now time.Time) bool { return s.Expiry.IsZero() || now.Before(s.Expiry) }

// isUsable reports whether the account gives access tokens with these scopes.
func (s *stored) isUsable(now time.Time, scopes []string) bool {
	return (s.Refresh != "" || s.isValid(now)) && !slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(s.Scopes, scope) })
}

// nameOf returns the name under which the account of a caller at a service is kept.
func nameOf(service, issuer, subject string) string { return digestOf(service, issuer, subject) }

// digestOf returns a digest of a list of texts.
func digestOf(texts ...string) string {
	list, _ := json.Marshal(texts) // never fails for strings
	sum := sha256.Sum256(list)
	return hex.EncodeToString(sum[:])
}
