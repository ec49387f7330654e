package auth

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile token, answer or key set grows with its length.
func TestGrowth(t *testing.T) {
	h := newHouse(t, nil)
	for name, parse := range map[string]func(string){
		"token": func(s string) { _, _ = h.guard.authenticate(t.Context(), credential{token: s}) },
		"claims": func(s string) {
			_, _ = h.guard.authenticate(t.Context(), credential{token: unsigned(`{"alg":"ES256","typ":"at+jwt"}`, `{"iss":"http://localhost:7001","a":`+s)})
		},
		"proof": func(s string) { _, _, _ = parseProofHeader([]byte(s)) },
		"keys":  func(s string) { _, _ = parseKeySet([]byte(s)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{\"keys\":[{\"kty\":"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}
